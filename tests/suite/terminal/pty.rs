//! A terminal to run the program in: what a person would see, byte by byte.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A program at work in a terminal of its own.
pub struct Terminal {
    child: Child,
    screen: File,
    /// What was printed so far.
    pub printed: String,
}

impl Terminal {
    /// Starts a command with its output and its messages on a terminal of so many columns.
    pub fn start(command: &mut Command, columns: u16) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        tcsetwinsize(&screen, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let line: OwnedFd = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        command.env("TERM", "xterm-256color");
        command.stdout(Stdio::from(line.try_clone().unwrap())).stderr(Stdio::from(line));
        let child = command.spawn().unwrap();
        // The command still holds the terminal, which would never end.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { child, screen: File::from(screen), printed: String::new() }
    }

    /// Reads on until `is_enough` of what was printed, or to the end.
    pub fn read_until(&mut self, is_enough: impl Fn(&str) -> bool) {
        let mut bytes = std::mem::take(&mut self.printed).into_bytes();
        let mut piece = [0; 4096];
        while !is_enough(&String::from_utf8_lossy(&bytes)) {
            match self.screen.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // So says Linux when nobody is left at the other end.
                Err(_) => break,
            }
        }
        self.printed = String::from_utf8(bytes).unwrap();
    }

    /// Sends the program a signal.
    pub fn kill(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Returns the standard input of the program, if it is a pipe.
    pub fn stdin(&mut self) -> Option<std::process::ChildStdin> {
        self.child.stdin.take()
    }

    /// Waits for the end; returns all that was printed, with plain line ends, and the exit code.
    pub fn finish(mut self) -> (String, i32) {
        self.read_until(|_| false);
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (self.printed.replace("\r\n", "\n"), code)
    }
}
