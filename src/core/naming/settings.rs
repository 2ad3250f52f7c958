//! pi's settings, as far as they say where sessions are (help naming, "Folders"): measured on pi 1.6.

use crate::core::json::{Cursor, Raw};

/// Returns the folder of sessions that settings name, as it is written there; `None` if they do not, or if pi
/// could not read them.
pub(crate) fn session_dir(settings: &[u8]) -> Option<String> {
    let settings = settings.strip_prefix(b"\xef\xbb\xbf").unwrap_or(settings).trim_ascii();
    let mut cursor = Cursor::new(settings);
    cursor.value().and_then(|_| cursor.end()).ok()?;
    let folder = Raw::new(settings).get("sessionDir")?.str()?;
    let folder = folder.strip_prefix("file://").unwrap_or(&folder);
    (!folder.is_empty()).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::session_dir;

    #[test]
    fn settings_are_read_as_pi_reads_them() {
        for (settings, expected) in [
            (r#"{"sessionDir":"~/mine"}"#, Some("~/mine")),
            (" {\"sessionDir\" : \"a\\u002fb\"}\n", Some("a/b")),
            ("\u{feff}{\"sessionDir\":\"/x\"}", Some("/x")),
            (r#"{"sessionDir":"/no","other":[{"sessionDir":1}],"sessionDir":"/x"}"#, Some("/x")),
            (r#"{"sessionDir":"file:///x/y"}"#, Some("/x/y")),
            (r#"{"sessionDir":""}"#, None),
            (r#"{"sessionDir":null}"#, None),
            (r#"{"sessionDir":["/x"]}"#, None),
            (r#"{"other":{"sessionDir":"/x"}}"#, None),
            (r#"{"sessionDir":"/x",}"#, None),
            (r#"{"sessionDir":"/x"} // no"#, None),
            (r#"{"sessionDir":"/x""#, None),
            (r#"["sessionDir"]"#, None),
            ("", None),
        ] {
            assert_eq!(session_dir(settings.as_bytes()).as_deref(), expected, "{settings}");
        }
    }
}
