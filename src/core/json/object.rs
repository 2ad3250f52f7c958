//! Writes JSON objects member by member, in the order of the calls. What is written once is never read
//! again: keeping names unique is up to the caller.

use super::text::{push_json, push_json_id};

/// A JSON object being written at the end of a buffer; dropping it writes the closing brace.
#[derive(Debug)]
pub struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Object<'o> {
    /// Begins an object.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// Continues the object that `out` ends with, to add members.
    pub(crate) fn reopen(out: &'o mut Vec<u8>) -> Self {
        out.pop_if(|byte| *byte == b'}');
        let is_empty = out.trim_ascii_end().last() == Some(&b'{');
        Self { out, is_empty }
    }

    /// Continues an object whose first members were written elsewhere.
    pub fn resume(out: &'o mut Vec<u8>) -> Self {
        Self { out, is_empty: false }
    }

    /// Adds the name of a member and returns the buffer, to which its value must be added.
    pub fn value(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        push_json(self.out, name);
        self.out.push(b':');
        self.out
    }

    /// Adds JSON text.
    pub fn json(&mut self, name: &str, value: &[u8]) -> &mut Self {
        self.value(name).extend_from_slice(value);
        self
    }

    /// Adds a string.
    pub fn str(&mut self, name: &str, value: &str) -> &mut Self {
        push_json(self.value(name), value);
        self
    }

    /// Adds the id of an entry.
    pub(crate) fn id(&mut self, name: &str, id: &str) -> &mut Self {
        push_json_id(self.value(name), id);
        self
    }

    /// Adds the id of an entry, or null.
    pub(crate) fn id_or_null(&mut self, name: &str, id: Option<&str>) -> &mut Self {
        match id {
            Some(id) => self.id(name, id),
            None => self.json(name, b"null"),
        }
    }

    /// Adds a number.
    pub fn number(&mut self, name: &str, value: impl Into<i64>) -> &mut Self {
        self.json(name, value.into().to_string().as_bytes())
    }

    /// Adds a list of strings.
    pub fn strings(&mut self, name: &str, values: impl IntoIterator<Item = impl AsRef<str>>) -> &mut Self {
        let out = self.value(name);
        out.push(b'[');
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_json(out, value.as_ref());
        }
        out.push(b']');
        self
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        self.out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::Object;

    fn check(begun: &str, write: impl FnOnce(&mut Object<'_>), begin: fn(&mut Vec<u8>) -> Object<'_>, expected: &str) {
        let mut out = begun.as_bytes().to_vec();
        write(&mut begin(&mut out));
        assert_eq!(str::from_utf8(&out), Ok(expected));
    }

    #[test]
    fn members_are_written_in_the_order_of_the_calls() {
        check("", |_| {}, |out| Object::new(out), "{}");
        let all = |object: &mut Object<'_>| {
            object.str("b", "x\"\n").id_or_null("a", None).id_or_null("a", Some("y")).number("n", -7_i32);
            object.strings("l", &["p".to_owned(), "q\\".to_owned()]).json("j", b"[1 , 2]");
            Object::new(object.value("o")).strings("e", [""; 0]);
        };
        let written = r#"{"b":"x\"\n","a":null,"a":"y","n":-7,"l":["p","q\\"],"j":[1 , 2],"o":{"e":[]}}"#;
        check("[", all, |out| Object::new(out), &format!("[{written}"));
    }

    #[test]
    fn reopened_object_gets_commas_where_needed() {
        let add = |object: &mut Object<'_>| _ = object.number("n", 1_i32);
        check("{}", add, |out| Object::reopen(out), r#"{"n":1}"#);
        check("{ }", add, |out| Object::reopen(out), r#"{ "n":1}"#);
        check(r#"{"a":{}}"#, add, |out| Object::reopen(out), r#"{"a":{},"n":1}"#);
        check("]", add, |out| Object::resume(out), r#"],"n":1}"#);
    }
}
