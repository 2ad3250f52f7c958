//! Tables fit the screen: what gives way, in which order, and that no row is ever wider.

use session_tree::ui::list::{CHUNK, Column, Listing};
use session_tree::ui::screen::Screen;
use unicode_width::UnicodeWidthStr;

const COLUMNS: [Column; 4] =
    [Column::Whole("id", 8), Column::Whole("when", 16), Column::Text("label", 0), Column::Text("text", 0)];

fn draw(columns: &[Column], screen: &Screen, rows: &[Vec<String>]) -> Vec<String> {
    let mut listing = Listing::new(columns, screen);
    let out = listing.rows(rows.to_vec()) + &listing.foot();
    out.lines().map(str::to_owned).collect()
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

/// Lines that come out of one row in so many columns, borders and all.
fn check(columns: usize, borders: bool, expected: &[&str]) {
    let screen = Screen { width: Some(columns), is_terminal: borders, ..Screen::default() };
    let rows = [row(&["aaaa1111", "2026-01-31 10:00", "plan-b", "Then the tests of the parser fail"])];
    assert_eq!(draw(&COLUMNS, &screen, &rows), expected, "{columns}");
}

#[test]
fn what_says_least_gives_way_first() {
    check(
        80,
        false,
        &[
            "id        when              label   text",
            "aaaa1111  2026-01-31 10:00  plan-b  Then the tests of the parser fail",
        ],
    );
    check(
        60,
        true,
        &[
            "┌──────────┬──────────────────┬────────┬───────────────────┐",
            "│ id       ┆ when             ┆ label  ┆ text              │",
            "╞══════════╪══════════════════╪════════╪═══════════════════╡",
            "│ aaaa1111 ┆ 2026-01-31 10:00 ┆ plan-b ┆ Then the tests o… │",
            "└──────────┴──────────────────┴────────┴───────────────────┘",
        ],
    );
    check(
        58,
        true,
        &["id        when              label   text", "aaaa1111  2026-01-31 10:00  plan-b  Then the tests of the…"],
    );
    check(40, false, &["id        label   text", "aaaa1111  plan-b  Then the tests of the…"]);
    check(30, false, &["id        text", "aaaa1111  Then the tests of t…"]);
    check(12, false, &["id        t…", "aaaa1111  T…"]);
    check(11, false, &["id", "aaaa1111"]);
    check(5, false, &["id", "aaaa…"]);
}

#[test]
fn the_first_rows_decide_on_the_widths() {
    let screen = Screen { width: Some(30), ..Screen::default() };
    let mut listing =
        Listing::new(&[Column::Whole("id", 2), Column::Text("label", 0), Column::Text("text", 0)], &screen);
    let first = vec![row(&["a", "short", "one"]); CHUNK];
    assert!(listing.rows(first).starts_with("id  label  text\na   short  one\na   short  one\n"));
    assert_eq!(
        listing.rows(vec![row(&["bb", "longer", "goes on as far as it can"])]),
        "bb  long…  goes on as far as …\n"
    );
    assert_eq!(listing.foot(), "");
}

#[test]
fn no_row_is_wider_than_the_screen() {
    let texts = [
        "日",
        "日本語の文字",
        "क्क्क्क्ष्म क्ष",
        "กำกำ \u{e33}\u{e33}",
        "👩\u{200d}👩\u{200d}👧 🇩🇪🇯🇵 1\u{fe0f}\u{20e3}☎\u{fe0f}",
        "\u{200b}\u{301}a\u{301}",
        "لا إله ﷽ ﷽",
        "각각각",
        "\u{1b}[31m\n",
        "",
        "ｱｲｳ words and words",
    ];
    for (columns, is_terminal) in (1..70).flat_map(|columns| [(columns, false), (columns, true)]) {
        let screen = Screen { width: Some(columns), is_terminal, ..Screen::default() };
        for (at, &id) in texts.iter().enumerate() {
            let (label, text) = (texts[(at + columns) % texts.len()], texts[(at + columns / 3) % texts.len()]);
            let rows = [row(&[id, "2026-01-31 10:00", label, text]), row(&[id, "", text, &text.repeat(9)])];
            let lines = draw(&COLUMNS, &screen, &rows);
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:#?}");
        }
    }
}
