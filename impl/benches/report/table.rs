//! Tables.

/// A table of Markdown that can be read as it is.
pub fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.iter_mut().for_each(|row| row.resize(head.len(), String::new()));
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count()).collect();
    // What a row without figures says may run on.
    for row in rows.iter().filter(|row| row[2..].iter().any(|cell| !cell.is_empty())) {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |cells: &[&str]| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat((*width).max(3))).collect();
    let rule: Vec<&str> = rule.iter().map(String::as_str).collect();
    let rows = rows.iter().map(|row| line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    [line(head), line(&rule)].into_iter().chain(rows).collect()
}
