//! Values as JavaScript writes them: `JSON.stringify(JSON.parse(text))`, which is how the arguments of calls
//! are sent as text. Never recurses: the depth is up to the file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::core::json::text::push_json;
use crate::core::json::{Cursor, Raw, SyntaxError, ValueKind};

/// Returns a text as a value, if it is one.
pub(super) fn parse(text: &str) -> Option<Raw<'_>> {
    let mut cursor = Cursor::new(text.as_bytes());
    let span = cursor.value().ok()?;
    cursor.end().ok()?;
    Some(Raw::new(&text.as_bytes()[span.range()]))
}

/// Returns the arguments of a call as text; those of a call without any are an empty object.
pub(super) fn text(arguments: Option<Raw<'_>>) -> String {
    let Some(arguments) = arguments else { return "{}".to_owned() };
    let written = read(arguments.bytes()).map(|values| write(&values)).unwrap_or_default();
    String::from_utf8_lossy(&written).into_owned()
}

/// A value. Those in it are named by their places in the list of all.
enum Value<'t> {
    Scalar(Raw<'t>),
    Array(Vec<usize>),
    Object(Vec<(String, usize)>),
}

/// A container that is being read.
enum OpenContainer {
    Array(Vec<usize>),
    /// The members, and the name of the one that is next.
    Object(Vec<(String, usize)>, String),
}

/// Reads all values of a text, each after those in it; the last one is the whole.
fn read(text: &[u8]) -> Result<Vec<Value<'_>>, SyntaxError> {
    let name = |key: crate::core::json::Key<'_>| String::from_utf8_lossy(key.name()).into_owned();
    let mut cursor = Cursor::new(text);
    let mut values = Vec::new();
    let mut open = Vec::new();
    'value: loop {
        match cursor.peek() {
            Some(b'{') => {
                cursor.begin_object()?;
                if let Some(key) = cursor.next_member(&mut true)? {
                    open.push(OpenContainer::Object(Vec::new(), name(key)));
                    continue 'value;
                }
                values.push(Value::Object(Vec::new()));
            }
            Some(b'[') => {
                cursor.begin_array()?;
                if cursor.next_element(&mut true)? {
                    open.push(OpenContainer::Array(Vec::new()));
                    continue 'value;
                }
                values.push(Value::Array(Vec::new()));
            }
            _ => {
                let span = cursor.value()?;
                values.push(Value::Scalar(Raw::new(cursor.text(span))));
            }
        }
        loop {
            let place = values.len() - 1;
            let whole = match open.pop() {
                None => return Ok(values),
                Some(OpenContainer::Array(mut elements)) => {
                    elements.push(place);
                    if cursor.next_element(&mut false)? {
                        open.push(OpenContainer::Array(elements));
                        continue 'value;
                    }
                    Value::Array(elements)
                }
                Some(OpenContainer::Object(mut members, this)) => {
                    members.push((this, place));
                    if let Some(key) = cursor.next_member(&mut false)? {
                        open.push(OpenContainer::Object(members, name(key)));
                        continue 'value;
                    }
                    Value::Object(ordered(members))
                }
            };
            values.push(whole);
        }
    }
}

/// Returns the members of an object as JavaScript keeps them: each name once, with its last value, small whole
/// numbers first, the others as they came.
fn ordered(members: Vec<(String, usize)>) -> Vec<(String, usize)> {
    let mut places = HashMap::with_capacity(members.len());
    let mut ordered: Vec<(String, usize)> = Vec::with_capacity(members.len());
    for (name, place) in members {
        match places.entry(name) {
            Entry::Occupied(known) => {
                let at: usize = *known.get();
                ordered[at].1 = place;
            }
            Entry::Vacant(new) => {
                ordered.push((new.key().clone(), place));
                new.insert(ordered.len() - 1);
            }
        }
    }
    ordered.sort_by_key(|(name, _)| index(name).map_or((true, 0), |index| (false, index)));
    ordered
}

/// Returns the number that a name is, if JavaScript takes it for the index of an array.
fn index(name: &str) -> Option<u32> {
    let index = name.parse::<u32>().ok()?;
    (index < u32::MAX && index.to_string() == name).then_some(index)
}

/// Writes the last of these values.
fn write(values: &[Value<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    // The containers that are being written, each with how many of its values are.
    let mut open: Vec<(&Value<'_>, usize)> = Vec::new();
    let mut next = values.len().checked_sub(1);
    loop {
        if let Some(place) = next.take() {
            match &values[place] {
                Value::Scalar(scalar) => write_scalar(&mut out, *scalar),
                value @ Value::Array(_) => {
                    out.push(b'[');
                    open.push((value, 0));
                }
                value @ Value::Object(_) => {
                    out.push(b'{');
                    open.push((value, 0));
                }
            }
        }
        let Some((value, written)) = open.last_mut() else { return out };
        let (name, place, end) = match value {
            Value::Scalar(_) => (None, None, b' '),
            Value::Array(elements) => (None, elements.get(*written).copied(), b']'),
            Value::Object(members) => {
                let member = members.get(*written);
                (member.map(|(name, _)| name), member.map(|(_, place)| *place), b'}')
            }
        };
        if place.is_none() {
            out.push(end);
            open.pop();
            continue;
        }
        if *written > 0 {
            out.push(b',');
        }
        *written += 1;
        if let Some(name) = name {
            push_json(&mut out, name);
            out.push(b':');
        }
        next = place;
    }
}

fn write_scalar(out: &mut Vec<u8>, scalar: Raw<'_>) {
    match scalar.kind() {
        ValueKind::String => push_json(out, &scalar.str().unwrap_or_default()),
        ValueKind::Number => out.extend_from_slice(number(scalar.number().unwrap_or_default()).as_bytes()),
        _ => out.extend_from_slice(scalar.bytes()),
    }
}

/// Writes a number: with an exponent if it is very large or very small.
fn number(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() {
        "null".to_owned()
    } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        if size < 1.0 { text } else { text.replace('e', "e+") }
    } else if size == 0.0 {
        "0".to_owned()
    } else {
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::core::json::Raw;

    #[test]
    fn arguments_are_written_as_javascript_writes_them() {
        let check = |stored: &str, sent: &str| assert_eq!(text(Some(Raw::new(stored.as_bytes()))), sent, "{stored}");
        check(r#"{"path": "x", "n" : 1.0}"#, r#"{"path":"x","n":1}"#);
        check(r#"{"b":1,"2":[ {}, [ ] ],"1":{"a":null},"b":true}"#, r#"{"1":{"a":null},"2":[{},[]],"b":true}"#);
        check(r#"{"01":1,"-1":2,"4294967295":3,"4294967294":4}"#, r#"{"4294967294":4,"01":1,"-1":2,"4294967295":3}"#);
        check(
            r#"[1e21,123456789012345678901,1e-7,0.000001,-0,1e400,1.5e300,-2E-9]"#,
            r#"[1e+21,123456789012345680000,1e-7,0.000001,0,null,1.5e+300,-2e-9]"#,
        );
        check("\"\\u65e5\\/\\u0001\\u007f\"", "\"日/\\u0001\u{7f}\"");
        check("[[1],[2,[3]],\"[\",{\"a\":{}}]", "[[1],[2,[3]],\"[\",{\"a\":{}}]");
        check("null", "null");
        assert_eq!(text(None), "{}");
    }

    #[test]
    fn deep_arguments_need_no_call_stack() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(text(Some(Raw::new(deep.as_bytes()))), deep);
    }
}
