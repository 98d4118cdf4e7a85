//! `conformance list`: the guarantees and their scenarios.

use std::process::ExitCode;

use super::arguments::ListArgs;
use crate::catalogue::Catalogue;
use crate::features::Case;
use crate::text::print;

/// Lists what is selected.
///
/// # Errors
/// When the features or the catalogue cannot be read, or nothing is selected.
pub fn list(args: &ListArgs) -> Result<ExitCode, String> {
    let root = args.checkout.root()?;
    let catalogue = Catalogue::read(&root)?;
    let features = args.selection.selected(&root, &catalogue)?;
    if args.markdown {
        print(&crate::page::guarantees(&features, &catalogue));
        return Ok(ExitCode::SUCCESS);
    }
    for feature in &features {
        for rule in &feature.rules {
            for (position, scenario) in rule.scenarios.iter().enumerate() {
                let case = Case::of(feature, Some(rule), scenario);
                if position == 0 {
                    let text = catalogue.get(&case.id).map(|g| g.text.as_str()).unwrap_or("unknown id");
                    print(&format!("{}  {text}\n", case.id));
                }
                print(&format!("    {}\n", case.name()));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
