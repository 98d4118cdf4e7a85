//! What of the features is selected: on the command line, of what a driver does not claim, and of a run that is shared out.

use std::collections::BTreeMap;

use cucumber::feature::Ext;
use gherkin::Feature;

use super::Case;
use crate::catalogue::{Catalogue, chapter};
use crate::driver::Manifest;

/// What is selected on the command line; empty = everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Ids, chapters, or `ID/case`.
    pub ids: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
}

impl Selection {
    /// Whether a case is selected.
    pub fn selects(&self, case: &Case) -> bool {
        (self.ids.is_empty() || self.ids.iter().any(|id| is_of(case, id)))
            && (self.tags.is_empty() || self.tags.iter().any(|tag| has(case, tag)))
    }

    /// The first word of it that names nothing, and the nearest that does.
    pub fn unknown(&self, features: &[Feature], catalogue: &Catalogue) -> Option<String> {
        let cases = cases(features);
        let ids = self.ids.iter().find(|id| !cases.iter().any(|case| is_of(case, id)));
        let tags = self.tags.iter().find(|tag| !cases.iter().any(|case| has(case, tag)));
        ids.map(|id| unknown_id(id, &cases, catalogue)).or_else(|| {
            let tag = tags?.trim_start_matches('@');
            let known = nearest(tag, cases.iter().flat_map(|case| &case.tags));
            Some(format!("--tag {tag}: no scenario has it; the nearest is {}", known.unwrap_or("none")))
        })
    }
}

/// Keeps only what is selected; the number of scenarios left.
pub fn select(features: &mut Vec<Feature>, selection: &Selection) -> usize {
    retain(features, |case| selection.selects(case))
}

/// Keeps, of what a driver does not claim, the first `most` scenarios of each guarantee; the number of scenarios left.
pub fn leave_out_unclaimed(features: &mut Vec<Feature>, manifest: &Manifest, most: usize) -> usize {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    retain(features, |case| {
        let claimed = manifest.claims(&case.id, case.is_extra());
        let count = seen.entry(case.id.clone()).or_insert(0);
        *count += usize::from(!claimed);
        claimed || *count <= most
    })
}

/// Keeps the scenarios for which it is so, in their order; the number of scenarios left.
pub fn retain(features: &mut Vec<Feature>, mut keep: impl FnMut(&Case) -> bool) -> usize {
    for feature in features.iter_mut() {
        let whole = feature.clone();
        for rule in &mut feature.rules {
            let of_rule = rule.clone();
            rule.scenarios.retain(|s| keep(&Case::of(&whole, Some(&of_rule), s)));
        }
        feature.rules.retain(|r| !r.scenarios.is_empty());
        feature.scenarios.retain(|s| keep(&Case::of(&whole, None, s)));
    }
    features.retain(|f| f.count_scenarios() > 0);
    features.iter().map(Ext::count_scenarios).sum()
}

/// All cases of the features, in their order.
pub fn cases(features: &[Feature]) -> Vec<Case> {
    let rules = features.iter().flat_map(|f| f.rules.iter().map(move |rule| (f, rule)));
    rules.flat_map(|(f, rule)| rule.scenarios.iter().map(move |s| Case::of(f, Some(rule), s))).collect()
}

/// The known word that is written most like this one.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    known.map(String::as_str).max_by(|a, b| strsim::jaro_winkler(word, a).total_cmp(&strsim::jaro_winkler(word, b)))
}

/// What is meant by a word that names no scenario, as far as can be told.
pub fn nearest_case(name: &str, cases: &[Case]) -> Option<String> {
    let id = name.split('/').next().unwrap_or_default();
    let of = |is: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| is(case)).map(Case::name).collect::<Vec<_>>();
    let own = of(&|case| case.id == id);
    let names = if own.is_empty() { of(&|_| true) } else { own };
    nearest(name, names.iter()).map(str::to_owned)
}

fn is_of(case: &Case, wanted: &str) -> bool {
    wanted == case.id || wanted == chapter(&case.id) || wanted == case.name()
}

fn has(case: &Case, tag: &str) -> bool {
    case.tags.iter().any(|t| t == tag.trim_start_matches('@'))
}

fn unknown_id(id: &str, cases: &[Case], catalogue: &Catalogue) -> String {
    if id.contains('/') {
        let known = nearest_case(id, cases).unwrap_or_default();
        return format!("--id {id}: there is no such scenario; the nearest is {known}");
    }
    if let Some(guarantee) = catalogue.get(id) {
        return format!("--id {id}: no scenario here is of this guarantee: {}", guarantee.text);
    }
    let chapters = catalogue.iter().map(|g| g.chapter().to_owned());
    let known: Vec<String> =
        if id.contains('-') { catalogue.iter().map(|g| g.id.clone()).collect() } else { chapters.collect() };
    let known = nearest(id, known.iter()).unwrap_or_default();
    format!("--id {id}: there is no such guarantee; the nearest is {known}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::tests::TEXT;
    use gherkin::GherkinEnv;

    fn features() -> Vec<Feature> {
        vec![Feature::parse(TEXT, GherkinEnv::default()).unwrap().expand_examples().unwrap()]
    }

    fn selection(ids: &[&str], tags: &[&str]) -> Selection {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Selection { ids: owned(ids), tags: owned(tags) }
    }

    #[test]
    fn selection_by_id_chapter_case_and_tag() {
        for (ids, tags, count) in [
            (vec!["FS-06"], vec![], 2),
            (vec!["FS"], vec![], 2),
            (vec!["FS-06/cannot-read-~-a"], vec![], 1),
            (vec!["FS-07"], vec![], 0),
            (vec![], vec!["@extra"], 2),
            (vec![], vec!["linux"], 0),
        ] {
            let selection = selection(&ids, &tags);
            assert_eq!(select(&mut features(), &selection), count, "{selection:?}");
        }
    }

    #[test]
    fn what_names_nothing_is_told_with_the_nearest() {
        let catalogue = Catalogue::parse("| FS-06 | L | must | a | b |\n| NS-05 | L | must | dies | b |\n").unwrap();
        let unknown = |ids: &[&str], tags: &[&str]| selection(ids, tags).unknown(&features(), &catalogue);
        assert_eq!(unknown(&["FS-06", "FS", "FS-06/cannot-read-~-a"], &["extra", "@needs:factory"]), None);
        for (ids, tags, says) in [
            (vec!["FS", "FS-99"], vec![], "--id FS-99: there is no such guarantee; the nearest is FS-06"),
            (vec!["SN"], vec![], "--id SN: there is no such guarantee; the nearest is NS"),
            (vec!["NS-05"], vec![], "--id NS-05: no scenario here is of this guarantee: dies"),
            (vec!["FS-06/cannot-read-~-bb"], vec![], "no such scenario; the nearest is FS-06/cannot-read-~-b"),
            (vec![], vec!["@extras"], "--tag extras: no scenario has it; the nearest is extra"),
        ] {
            let told = unknown(&ids, &tags).unwrap();
            assert!(told.contains(says), "{told}");
        }
    }

    #[test]
    fn of_what_is_not_claimed_the_first_are_kept() {
        let text = "name: n\nkind: sandbox\nplatforms: [linux]\nlaunch: {open: []}\n";
        let mut manifest = Manifest::parse(text).unwrap();
        for (most, left) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
            let mut features = features();
            assert_eq!(leave_out_unclaimed(&mut features, &manifest, most), left);
            assert!(left != 1 || features[0].rules[0].scenarios[0].name.ends_with("~/a"));
        }
        manifest.claims = vec!["FS-06".into()];
        assert_eq!(leave_out_unclaimed(&mut features(), &manifest, 0), 0); // they are extra, which it does not claim
        manifest.extras = true;
        assert_eq!(leave_out_unclaimed(&mut features(), &manifest, 0), 2);
    }
}
