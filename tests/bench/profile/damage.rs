//! Lines that no reader can take, and files that are no sessions: what crashes, full disks and
//! foreign programs leave behind.

/// None of these is JSON, so every reader skips it and no count of well-formed lines moves. A line
/// that starts with a whole JSON value is left out: omp 13 takes that for an entry.
pub const MALFORMED: [&[u8]; 4] = [
    b"{\"type\":\"message\",\"id\":\"0badc0de\",\"parentId\":null,\"message\":{\"role\":\"user\",\"cont\n",
    b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\n",
    b"WARN 2026-01-05T09:00:00Z retrying after 429\n",
    b"ent\":\"the end of a line\",\"timestamp\":1767603601000}}\n",
];

/// Whole files that cannot be migrated. The last one is a session whose last line is unfinished; the
/// one before it comes from the future; the others are no sessions.
pub const FILES: [&[u8]; 10] = [
    b"",
    b"\n\n\n",
    b"{\"type\":\"session\",\"id\":\"1c7e0f4a-6d1b-7",
    b"npm warn deprecated inflight@1.0.6\nnpm error code ENOSPC\n",
    b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    b"{\n  \"name\": \"orchard\",\n  \"version\": \"0.4.1\",\n  \"private\": true\n}\n",
    b"{\"type\":\"session\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/home/dev\"}\n\
      {\"type\":\"message\",\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\",\"timestamp\":1767603601000}}\n",
    b"{\"type\":\"message\",\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\",\"timestamp\":1767603601000}}\n\
      {\"type\":\"thinking_level_change\",\"timestamp\":\"2026-01-05T09:00:02.000Z\",\"thinkingLevel\":\"high\"}\n",
    b"{\"type\":\"session\",\"version\":99,\"id\":\"0199f0c4-2f6e-7cc1-8d5e-5a1f0c2b7d10\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/home/dev\"}\n",
    b"{\"type\":\"session\",\"id\":\"0199f0c4-2f6e-7cc1-8d5e-5a1f0c2b7d11\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/home/dev\"}\n\
      {\"type\":\"message\",\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\",\"timestamp\":1767603601000}}\n\
      {\"type\":\"message\",\"timestamp\":\"2026-01-05T09:00:0",
];
