//! The page `src/help/json.md` as a specification: its shapes, and whether a value has one of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The page.
pub const PAGE: &str = include_str!("../../../src/help/json.md");

/// The type of a value, as the page writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    String,
    Number,
    Bool,
    Null,
    Object,
    Any,
    Time,
    /// This very value.
    Only(Value),
    Shape(String),
    List(Box<Type>),
    Map(Box<Type>),
    OneOf(Vec<Type>),
}

/// A key of a shape.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: String,
    pub may_be_absent: bool,
    pub value: Type,
}

/// All shapes of the page, and which of their cases have been seen: keys that were there or absent, values
/// that were null or another of several.
#[derive(Debug, Default)]
pub struct Shapes {
    pub shapes: BTreeMap<String, Vec<Key>>,
    seen: BTreeSet<String>,
}

impl Type {
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        if text.contains(" | ") {
            return Self::OneOf(text.split(" | ").map(Self::read).collect());
        }
        let inner =
            |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close).map(Self::read).map(Box::new);
        match text {
            "string" => Self::String,
            "number" => Self::Number,
            "bool" => Self::Bool,
            "null" => Self::Null,
            "object" => Self::Object,
            "any" => Self::Any,
            "time" => Self::Time,
            "true" | "false" => Self::Only((text == "true").into()),
            _ if text.starts_with('"') => Self::Only(text.trim_matches('"').into()),
            _ if text.starts_with('[') => Self::List(inner('[', ']').expect(text)),
            _ if text.starts_with('{') => Self::Map(inner('{', '}').expect(text)),
            _ => {
                assert!(text.starts_with(|char: char| char.is_ascii_uppercase()), "a type of the page: {text:?}");
                Self::Shape(text.to_owned())
            }
        }
    }

    /// Returns the types of which a value has one.
    fn choices(&self) -> &[Self] {
        if let Self::OneOf(types) = self { types } else { std::slice::from_ref(self) }
    }
}

impl Shapes {
    /// Reads the shapes of the page.
    pub fn read() -> Self {
        let mut all = Self::default();
        let mut shape = "";
        let blocks = PAGE.split("```text\n").skip(1);
        for line in blocks.flat_map(|block| block.split("```").next().unwrap().lines()) {
            let Some(cells) = line.strip_prefix("  ") else {
                shape = if line.is_empty() { shape } else { line };
                all.shapes.entry(shape.to_owned()).or_default();
                continue;
            };
            let mut cells = cells.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
            let (key, value, meaning) = (cells.next().unwrap(), cells.next().expect(line), cells.next());
            assert!(meaning.is_some() && cells.next().is_none(), "key, type and meaning: {line}");
            let (name, may_be_absent) = (key.trim_end_matches('?').to_owned(), key.ends_with('?'));
            let keys = all.shapes.get_mut(shape).expect("a shape begins with its name");
            assert!(keys.iter().all(|other| other.name != name), "{line} is there twice");
            keys.push(Key { name, may_be_absent, value: Type::read(value) });
        }
        all
    }

    /// Checks that a value has a type, and notes which cases it is.
    pub fn check(&mut self, value: &Value, wanted: &Type, at: &str) {
        let is_one = match wanted {
            Type::String => value.is_string(),
            Type::Number => value.is_number(),
            Type::Bool => value.is_boolean(),
            Type::Null => value.is_null(),
            Type::Object => value.is_object(),
            Type::Time => value.is_string() || value.is_number(),
            Type::Any => true,
            Type::Only(only) => value == only,
            Type::List(item) => {
                let list = value.as_array().unwrap_or_else(|| panic!("{at} is a list: {value}"));
                return list
                    .iter()
                    .enumerate()
                    .for_each(|(nth, value)| self.check(value, item, &format!("{at}[{nth}]")));
            }
            Type::Map(item) => {
                let map = value.as_object().unwrap_or_else(|| panic!("{at} is an object: {value}"));
                return map.iter().for_each(|(key, value)| self.check(value, item, &format!("{at}.{key}")));
            }
            Type::Shape(name) => return self.check_shape(value, name, at),
            Type::OneOf(types) => {
                // Null first: anything else is never null.
                let fitting = types.iter().find(|choice| (**choice == Type::Null) == value.is_null());
                let is_word = |choice: &&Type| **choice == Type::Only(value.clone());
                let fitting = types.iter().find(is_word).or(fitting);
                return self.check(value, fitting.unwrap_or_else(|| panic!("{at}: {value}")), at);
            }
        };
        assert!(is_one, "{at} is {wanted:?}: {value}");
    }

    fn check_shape(&mut self, value: &Value, name: &str, at: &str) {
        let keys = self.shapes.get(name).unwrap_or_else(|| panic!("the page has a shape `{name}`")).clone();
        let object = value.as_object().unwrap_or_else(|| panic!("{at} is an object: {value}"));
        for found in object.keys() {
            assert!(keys.iter().any(|key| key.name == *found), "{at}.{found} is not a key of {name}: {value}");
        }
        for key in keys {
            let case = format!("{name}.{}", key.name);
            let Some(value) = object.get(&key.name) else {
                assert!(key.may_be_absent, "{at} has no `{}`: {value}", key.name);
                self.seen.insert(format!("{case} absent"));
                continue;
            };
            let is_of = |choice: &&Type| match choice {
                Type::Null => value.is_null(),
                Type::Only(only) => value == only,
                _ => !value.is_null(),
            };
            let of = key.value.choices().iter().find(is_of);
            self.seen.extend([format!("{case} present"), format!("{case} as {of:?}")]);
            self.check(value, &key.value, &format!("{at}.{}", key.name));
        }
    }

    /// Returns the cases that no value was.
    pub fn unseen(&self) -> Vec<String> {
        let mut unseen = Vec::new();
        for (name, keys) in &self.shapes {
            for Key { name: key, may_be_absent, value } in keys {
                let mut cases = vec![format!("{name}.{key} present")];
                cases.extend(may_be_absent.then(|| format!("{name}.{key} absent")));
                cases.extend(value.choices().iter().map(|choice| format!("{name}.{key} as {:?}", Some(choice))));
                unseen.extend(cases.into_iter().filter(|case| !self.seen.contains(case)));
            }
        }
        unseen
    }
}
