//! What a person sent: a user message, or the command that puts a skill into the conversation, which is
//! stored with all that the skill says. Here is what a move takes back of it, to be edited and sent again.

use super::Entry;
use crate::core::json::Raw;
use crate::core::words::counted;

/// What was sent with an entry that is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The text that was typed.
    pub text: String,
    /// The blocks of its images, as stored.
    pub images: Vec<String>,
    /// What kinds of images they are.
    pub image_types: Vec<String>,
}

impl Prompt {
    /// Returns what was sent with an entry.
    pub(crate) fn of(entry: Entry<'_>) -> Self {
        let blocks = || entry.content().into_iter().flat_map(|content| content.elements());
        let images = || blocks().filter(|block| block.get_str("type").as_deref() == Some("image"));
        Self {
            text: typed(entry).unwrap_or_else(|| entry.full_text()),
            images: images().map(|block| String::from_utf8_lossy(block.bytes()).into_owned()).collect(),
            image_types: images()
                .map(|block| block.get_str("mimeType").map_or_else(|| "image".to_owned(), |mime| mime.into_owned()))
                .collect(),
        }
    }

    /// Returns how many images it has and of which kinds, in words.
    pub fn named_images(&self) -> Option<String> {
        let count = self.images.len();
        let named = || format!("{} ({})", counted(count, "image", "images"), self.image_types.join(", "));
        (count > 0).then(named)
    }
}

/// Returns the command that put a skill into the conversation; `None` for any other entry, and if the
/// entry does not say it.
pub(crate) fn typed(entry: Entry<'_>) -> Option<String> {
    if !entry.is_skill_of_user() {
        return None;
    }
    let details = entry.get("details")?;
    let text = |name: &str| details.get(name).and_then(Raw::str).filter(|text| !text.trim().is_empty());
    if let Some(prompt) = text("prompt") {
        return Some(prompt.into_owned());
    }
    let command = format!("/skill:{}", text("name")?);
    Some(text("args").map_or_else(|| command.clone(), |arguments| format!("{command} {arguments}")))
}

#[cfg(test)]
mod tests {
    use super::Prompt;
    use crate::core::entry::Scan;

    #[test]
    fn of_a_skill_only_the_command_is_what_was_typed() {
        for (members, text, is_user) in [
            (r#""attribution":"user","details":{"name":"glaze","args":"it twice"}"#, "/skill:glaze it twice", true),
            (r#""attribution":"user","details":{"name":"glaze","args":" "}"#, "/skill:glaze", true),
            (r#""attribution":"user","details":{"name":"glaze","prompt":"/glaze it"}"#, "/glaze it", true),
            (r#""attribution":"user","details":{"args":"it"}"#, "all of it", true),
            (r#""attribution":"user""#, "all of it", true),
            (r#""attribution":"agent","details":{"name":"glaze"}"#, "all of it", false),
            (r#""details":{"name":"glaze"}"#, "all of it", false),
        ] {
            let line =
                format!(r#"{{"type":"custom_message","customType":"skill-prompt","content":"all of it",{members}}}"#);
            let mut scan = Scan::default();
            let entry = scan.read(line.as_bytes()).unwrap();
            assert_eq!((Prompt::of(entry).text.as_str(), entry.traits().is_user()), (text, is_user), "{members}");
        }
    }

    #[test]
    fn images_are_as_stored() {
        let image = r#"{"type":"image", "mimeType":"image/png","data":"AA=="}"#;
        let line = format!(
            r#"{{"type":"message","message":{{"role":"user","content":[{image},{{"type":"text","text":"x"}},{{"type":"image"}}]}}}}"#
        );
        let mut scan = Scan::default();
        let prompt = Prompt::of(scan.read(line.as_bytes()).unwrap());
        assert_eq!((prompt.text.as_str(), prompt.images[0].as_str()), ("x", image));
        assert_eq!(prompt.named_images().as_deref(), Some("2 images (image/png, image)"));
    }
}
