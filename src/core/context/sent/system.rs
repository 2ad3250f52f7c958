//! What system messages add up to: one text, and the tools that the model may call.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::core::json::{Raw, ValueKind};

/// The system prompt, and the tools that system messages name.
#[derive(Debug, Default)]
pub struct SystemPrompt {
    contents: Vec<String>,
    sections: Ordered<String, String>,
    tools: Ordered<String, Vec<u8>>,
}

/// The tools that are called.
#[derive(Debug, Default)]
pub struct CalledTools {
    known: HashSet<String>,
    /// Their names, in the order of their first calls.
    pub names: Vec<String>,
}

impl SystemPrompt {
    /// Adds a system message: its content, what it changes in the sections, and the tools that come and go.
    pub(super) fn add(&mut self, message: Raw<'_>) {
        let content = message.get("content");
        let text = content.and_then(Raw::str).map(|text| text.into_owned()).unwrap_or_else(|| {
            let blocks = content.iter().flat_map(|content| content.elements());
            let texts = blocks.filter(|block| block.get_str("type").as_deref() == Some("text"));
            texts.filter_map(|block| block.get_str("text")).collect::<Vec<_>>().join("\n")
        });
        self.contents.extend(Some(text).filter(|text| !text.is_empty()));
        for (name, text) in message.get("sections").iter().flat_map(|sections| sections.members()) {
            let name = String::from_utf8_lossy(name.name()).into_owned();
            match text.kind() {
                ValueKind::Null => self.sections.remove(&name),
                _ => text.str().into_iter().for_each(|text| self.sections.set(name.clone(), text.into_owned())),
            }
        }
        let named =
            |list| message.get(list).into_iter().flat_map(|tools: Raw<'_>| tools.elements().collect::<Vec<_>>());
        for tool in named("toolsRemoved") {
            tool.get_str("name").or_else(|| tool.str()).iter().for_each(|name| self.tools.remove(&name.to_string()));
        }
        for tool in named("toolsAdded") {
            if let Some(name) = tool.get_str("name") {
                self.tools.set(name.into_owned(), tool.bytes().to_vec());
            }
        }
    }

    /// Returns the text: what the messages say, then the sections as they are in the end. `None` if there is none.
    pub fn text(&self) -> Option<String> {
        let sections = self.sections.values().filter(|section| !section.is_empty());
        let texts: Vec<_> = self.contents.iter().chain(sections).map(String::as_str).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Iterates over the definitions of tools, as stored.
    pub fn tools(&self) -> impl Iterator<Item = Raw<'_>> {
        self.tools.values().map(|tool| Raw::new(tool))
    }
}

impl CalledTools {
    /// Adds the tool of a call.
    pub(super) fn call(&mut self, name: &str) {
        if !name.is_empty() && self.known.insert(name.to_owned()) {
            self.names.push(name.to_owned());
        }
    }
}

/// Values by key, in the order in which the keys came; a key that was removed comes anew.
#[derive(Debug)]
struct Ordered<K, V> {
    places: HashMap<K, usize>,
    values: Vec<Option<V>>,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), values: Vec::new() }
    }
}

impl<K: Eq + Hash, V> Ordered<K, V> {
    fn set(&mut self, key: K, value: V) {
        let place = *self.places.entry(key).or_insert(self.values.len());
        match self.values.get_mut(place) {
            Some(old) => *old = Some(value),
            None => self.values.push(Some(value)),
        }
    }

    fn remove(&mut self, key: &K) {
        if let Some(place) = self.places.remove(key) {
            self.values[place] = None;
        }
    }

    fn values(&self) -> impl Iterator<Item = &V> {
        self.values.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::SystemPrompt;
    use crate::core::json::Raw;

    #[test]
    fn system_messages_add_up_to_one_text_and_the_tools_that_are_left() {
        let mut prompt = SystemPrompt::default();
        let mut check = |message: &str, text: Option<&str>, tools: &str| {
            prompt.add(Raw::new(message.as_bytes()));
            assert_eq!(prompt.text().as_deref(), text, "{message}");
            let names: Vec<_> = prompt.tools().filter_map(|tool| tool.get_str("name")).collect();
            assert_eq!(names.join(" "), tools, "{message}");
        };
        check(r#"{"content":""}"#, None, "");
        check(r#"{"content":"Be brief.","toolsAdded":[{"name":"a"},{"name":"b"}]}"#, Some("Be brief."), "a b");
        check(
            r#"{"sections":{"x":"X","y":"Y","z":""},"toolsRemoved":[{"name":"a"}]}"#,
            Some("Be brief.\n\nX\n\nY"),
            "b",
        );
        check(
            r#"{"content":[{"type":"text","text":"p"},{"type":"text","text":"q"}]}"#,
            Some("Be brief.\n\np\nq\n\nX\n\nY"),
            "b",
        );
        check(r#"{"sections":{"x":null},"toolsAdded":[{"name":"a"}]}"#, Some("Be brief.\n\np\nq\n\nY"), "b a");
        check(r#"{"sections":{"x":"again","y":"Y2"}}"#, Some("Be brief.\n\np\nq\n\nY2\n\nagain"), "b a");
    }
}
