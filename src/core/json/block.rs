//! Blocks of 16 or 64 bytes of a string, compared with the bytes that matter in it, all at once: where a string or
//! its words end and what is escaped is then found by arithmetic on one bit a byte, the first byte lowest. Knows
//! nothing of what is outside of a string.

use memchr::memchr;
use wide::{u8x16, u8x64};

/// The number of bytes in a block.
pub(super) const SIZE: usize = 64;

/// The highest of the control characters that a string must not hold.
const LAST_CONTROL: u8 = 0x1f;

/// The bits at odd places.
const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// A block, and where its quotes, backslashes and control characters are.
pub(super) struct StringBlock {
    bytes: u8x64,
    quotes: u64,
    slashes: u64,
    controls: u64,
}

/// What a block holds of a string that goes on at its first byte.
pub(super) struct Inside {
    /// The place of the quote that ends the string, or of a control character; none is 64.
    pub(super) end: usize,
    /// How many bytes are done with; fewer than 64 if an escape goes on after the block.
    pub(super) done: usize,
    /// Escaped bytes up to the end that are not known to be right: neither a quote nor a backslash nor an `n`
    /// nor a `t`, which nearly all are.
    pub(super) unsure: u64,
}

impl StringBlock {
    #[inline(always)]
    pub(super) fn new(bytes: &[u8; SIZE]) -> Self {
        let bytes = u8x64::new(*bytes);
        let controls = bytes.min(u8x64::splat(LAST_CONTROL)).simd_eq(bytes).to_bitmask();
        Self { bytes, quotes: places(bytes, b'"'), slashes: places(bytes, b'\\'), controls }
    }

    /// Returns what the block holds of a string.
    #[inline(always)]
    pub(super) fn inside(&self) -> Inside {
        if self.slashes == 0 {
            let end = (self.quotes | self.controls).trailing_zeros() as usize;
            return Inside { end, done: SIZE, unsure: 0 };
        }
        // Backslashes in a row escape one another by twos. The last of an odd number at the end of the block
        // is left to the next block.
        let left = self.slashes.leading_ones() as usize % 2;
        let slashes = self.slashes & (u64::MAX >> left);
        let escaped = after_odd_rows(slashes);
        let end = ((self.quotes & !escaped) | self.controls).trailing_zeros() as usize;
        let up_to_end = u64::MAX >> (SIZE - 1).saturating_sub(end);
        let usual = self.quotes | places(self.bytes, b'n') | places(self.bytes, b't');
        Inside { end, done: SIZE - left, unsure: escaped & !usual & up_to_end }
    }
}

/// Returns the number of bytes before the first quote, backslash or control character in some bytes of a string.
#[inline(always)]
pub(super) fn plain_front(bytes: &[u8; 16]) -> usize {
    let bytes = u8x16::new(*bytes);
    let is = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
    let ends = is(b'"') | is(b'\\') | bytes.min(u8x16::splat(LAST_CONTROL)).simd_eq(bytes);
    // There are 16 bits, and those above them are not set.
    (ends.to_bitmask() | 1 << 16).trailing_zeros() as usize
}

/// Returns the number of bytes before the first one that is neither printable ASCII nor stands for itself in a string.
#[inline(always)]
pub(super) fn printable_front(bytes: &[u8; 16]) -> usize {
    let bytes = u8x16::new(*bytes);
    let printable = bytes.max(u8x16::splat(b' ')).simd_eq(bytes) & bytes.min(u8x16::splat(b'~')).simd_eq(bytes);
    let ends = !printable | bytes.simd_eq(u8x16::splat(b'\\'));
    (ends.to_bitmask() | 1 << 16).trailing_zeros() as usize
}

/// Returns the place of the first quote. Most are near, which costs a search of everything more than these bytes.
#[inline]
pub(super) fn find_quote(bytes: &[u8]) -> Option<usize> {
    let Some(front) = bytes.first_chunk() else { return bytes.iter().position(|&byte| byte == b'"') };
    let quotes = u8x16::new(*front).simd_eq(u8x16::splat(b'"')).to_bitmask();
    if quotes != 0 { Some(quotes.trailing_zeros() as usize) } else { memchr(b'"', &bytes[16..]).map(|at| at + 16) }
}

/// Returns how many bytes are ASCII words with single spaces between them; the last of all these bytes is not
/// counted if it is a space, since what is after it decides. `goes_on` says that a word goes on at the first byte.
#[inline]
pub(super) fn words(bytes: &[u8; 16], goes_on: bool) -> usize {
    let bytes = u8x16::new(*bytes);
    let spaces = bytes.simd_eq(u8x16::splat(b' ')).to_bitmask();
    let graphic = bytes.max(u8x16::splat(b'!')).simd_eq(bytes) & bytes.min(u8x16::splat(b'~')).simd_eq(bytes);
    let graphic = graphic.to_bitmask();
    let single = spaces & (graphic << 1 | u32::from(goes_on)) & (graphic >> 1);
    (graphic | single).trailing_ones() as usize
}

#[inline(always)]
fn places(block: u8x64, byte: u8) -> u64 {
    block.simd_eq(u8x64::splat(byte)).to_bitmask()
}

/// Returns the bits after each row of set bits of odd length. Adding the first bit of a row to the row carries
/// over into the bit after it; that is at the other kind of place, even or odd, if the length is odd.
#[inline(always)]
fn after_odd_rows(bits: u64) -> u64 {
    let starts = bits & !(bits << 1);
    let from_even = bits.wrapping_add(starts & !ODD) & !bits;
    let from_odd = bits.wrapping_add(starts & ODD) & !bits;
    from_even & ODD | from_odd & !ODD
}

#[cfg(test)]
mod tests {
    use super::{SIZE, StringBlock, find_quote};

    /// Returns end, done and unsure of a block that starts with `front`; `.` stands for what is after it.
    fn check(front: &str, end: usize, done: usize, unsure: &[usize]) {
        let mut bytes = [b'.'; SIZE];
        bytes[..front.len()].copy_from_slice(front.as_bytes());
        let inside = StringBlock::new(&bytes).inside();
        let found: Vec<_> = (0..SIZE).filter(|at| inside.unsure >> at & 1 == 1).collect();
        assert_eq!((inside.end, inside.done, &found[..]), (end, done, unsure), "{front}");
    }

    #[test]
    fn a_string_ends_at_a_quote_that_is_not_escaped_or_at_a_control_character() {
        check("", 64, 64, &[]);
        check("a\"", 1, 64, &[]);
        check(r#"\"\\\"\\"x"#, 8, 64, &[]);
        check(r#"\"\\\"\\\"x"#, 64, 64, &[]);
        check("é\u{1f}\"", 2, 64, &[]);
        check(" \u{7f}\n\"", 2, 64, &[]);
        for byte in 0..=u8::MAX {
            for at in 0..SIZE {
                let mut bytes = [b'\xe9'; SIZE];
                bytes[at] = byte;
                let end = if byte < 0x20 || byte == b'"' { at } else { SIZE };
                assert_eq!(StringBlock::new(&bytes).inside().end, end, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn escapes_that_are_not_the_usual_ones_are_unsure() {
        check(r#"\n\t\"\\x"#, 64, 64, &[]);
        check(r"\u00e9\r\\u\\\u", 64, 64, &[1, 7, 14]);
        check(r#"\x"\y"#, 2, 64, &[1]);
        check("\\\n", 1, 64, &[1]);
        check("\\\\\n", 2, 64, &[]);
    }

    #[test]
    fn the_first_quote_is_found_wherever_it_is() {
        for length in 0..80 {
            let mut text = vec![b'.'; length];
            assert_eq!(find_quote(&text), None);
            for at in (0..length).rev() {
                text[at] = b'"';
                assert_eq!(find_quote(&text), Some(at), "{length}");
            }
        }
    }

    #[test]
    fn an_escape_at_the_end_is_left_to_the_next_block() {
        for row in 0..=SIZE {
            let bytes: Vec<_> = (0..SIZE).map(|at| if at < SIZE - row { b'.' } else { b'\\' }).collect();
            let inside = StringBlock::new(bytes.first_chunk().unwrap()).inside();
            assert_eq!((inside.end, inside.done, inside.unsure), (SIZE, SIZE - row % 2, 0), "{row}");
        }
    }
}
