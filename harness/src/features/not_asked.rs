//! What a driver cannot be asked: another platform's guarantee, a part it has not, a program that the host lacks.

use gherkin::Feature;

use super::Case;
use crate::catalogue::Catalogue;
use crate::driver::{Kind, Manifest};
use crate::host::landlock_abi;
use crate::lab::network::has_ipv6;
use crate::lab::{Lab, installed};
use crate::verdict::Verdict;

/// Replaces the steps of scenarios that the driver cannot be asked by one that says why. The others get the steps of their
/// backgrounds, which would else be done, and could fail, for the former as well.
pub fn mark_not_asked(features: &mut [Feature], manifest: &Manifest, catalogue: &Catalogue, blocked: Option<&str>) {
    for feature in features {
        let whole = feature.clone();
        let shared = feature.background.take().map(|b| b.steps).unwrap_or_default();
        for rule in &mut feature.rules {
            let of_rule = rule.clone();
            let own = rule.background.take().map(|b| b.steps).unwrap_or_default();
            for scenario in &mut rule.scenarios {
                let case = Case::of(&whole, Some(&of_rule), scenario);
                scenario.steps.splice(0..0, shared.iter().chain(&own).cloned());
                if let Some((verdict, why)) = not_asked(&case, manifest, catalogue, blocked) {
                    scenario.steps.truncate(1);
                    for step in &mut scenario.steps {
                        (step.docstring, step.table) = (None, None);
                        step.value = format!("not asked, {}: {why}", verdict.word());
                    }
                }
            }
        }
    }
}

fn not_asked(
    case: &Case,
    manifest: &Manifest,
    catalogue: &Catalogue,
    blocked: Option<&str>,
) -> Option<(Verdict, String)> {
    let here = std::env::consts::OS;
    let letter = if here == "macos" { 'M' } else { 'L' };
    let guarantee = catalogue.get(&case.id)?;
    let asked_here = guarantee.platforms.contains(letter) || (case.is_on_fixtures() && letter == 'L');
    if !asked_here || case.tags.iter().any(|t| is_platform(t) && t != here) {
        return Some((Verdict::NotApplicable, format!("not a guarantee on {here}")));
    }
    if !manifest.platforms.iter().any(|p| p == here) {
        return Some((Verdict::NotApplicable, format!("{} is not for {here}", manifest.name)));
    }
    for need in case.needs() {
        let there = match need {
            "factory" => manifest.kind == Kind::Factory,
            "yaml" => manifest.settings_file.is_some(),
            "egress-log" => manifest.observe.egress_log.is_some(),
            "events" => manifest.observe.events.is_some(),
            "outcome" => manifest.observe.outcome.is_some(),
            "per-repo" => !manifest.observe.attempt_of_repo.is_empty(),
            "artifacts" => !manifest.observe.artifacts.is_empty(),
            "protected" => manifest.observe.protected.is_some(),
            "availability" => manifest.observe.availability.is_some(),
            "words" => manifest.observe.outcome.as_ref().is_some_and(|outcome| outcome.words.is_some()),
            "parts" => manifest.provide.len() > 1,
            "validate" | "check" | "status" | "block" | "outcomes" | "providers" | "doctor" | "secret" => {
                manifest.commands.named(need).is_some()
            }
            "serve" => manifest.commands.serve.is_some(),
            "setup" | "sign" | "intake" => manifest.offers.iter().any(|word| word == need),
            "allowlist" => manifest.kind == Kind::Factory || manifest.launch.allowlist.is_some(),
            "backend" => manifest.backend.is_some(),
            "landlock-scope" | "reftable" | "ipv6" => true, // of the host, below
            _ => false,
        };
        if !there {
            return Some((Verdict::NotClaimed, format!("it cannot be asked: it has no {need}")));
        }
    }
    // What nobody claims may as well fail for the lack of a program.
    let claimed =
        manifest.claims(&case.id, case.is_extra()) && manifest.leaves_out(&case.id, &case.case, here).is_none();
    if claimed && case.needs().any(|need| need == "landlock-scope") && landlock_abi() < SCOPE {
        return Some((Verdict::Moot, "this kernel cannot scope sockets and signals (Landlock ABI below 6)".to_owned()));
    }
    if claimed && case.needs().any(|need| need == "reftable") && Lab::git().is_some_and(|version| version < REFTABLE) {
        return Some((Verdict::Moot, "this git has no reftable (before 2.45)".to_owned()));
    }
    if claimed && case.needs().any(|need| need == "ipv6") && !has_ipv6() {
        return Some((Verdict::Moot, "this kernel has no IPv6 (/proc/net/if_inet6)".to_owned()));
    }
    if let Some(name) = case.programs_if_installed().find(|name| claimed && Lab::program(name).is_none()) {
        return Some((
            Verdict::Moot,
            format!("{name} is not in /usr/bin, /usr/local/bin or /bin: no step here can use it"),
        ));
    }
    if let Some(name) = case.agents().find(|name| claimed && installed::program(name).is_none()) {
        return Some((Verdict::Blocked, format!("the agent {name} is not in target/agents; `ci/agents` installs it")));
    }
    let lacking = case.programs().find(|name| claimed && Lab::program(name).is_none());
    lacking
        .map(|name| {
            (Verdict::Blocked, format!("{name} is not in /usr/bin, /usr/local/bin or /bin; `make setup` installs it"))
        })
        .or_else(|| blocked.map(|why| (Verdict::Blocked, why.to_owned())))
}

/// The ABI of Landlock, landlock(7), that can keep a program from abstract sockets and signals outside (Linux 6.12).
const SCOPE: i64 = 6;

/// The release of git that came with refs in tables.
const REFTABLE: (u32, u32) = (2, 45);

fn is_platform(tag: &str) -> bool {
    ["linux", "macos", "wsl2", "windows"].contains(&tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cucumber::feature::Ext;
    use gherkin::GherkinEnv;

    use crate::features::tests::TEXT;

    #[test]
    fn without_a_program_that_it_uses_inside_a_scenario_is_blocked() {
        let text = "name: none\nkind: sandbox\nplatforms: [linux, macos]\nlaunch: {open: ['{{argv}}']}\n";
        let mut manifest = Manifest::parse(text).unwrap();
        let catalogue = Catalogue::parse("| FS-06 | LWM | must | a | b |\n").unwrap();
        manifest.claims = vec!["FS-06".into()];
        let mut case = Case { id: "FS-06".into(), tags: vec!["program:sh".into()], ..Case::default() };
        assert!(not_asked(&case, &manifest, &catalogue, None).is_none());
        case.tags.push("program:nobody-has-this".into());
        let (verdict, why) = not_asked(&case, &manifest, &catalogue, None).unwrap();
        assert_eq!((verdict, why.starts_with("nobody-has-this is not in ")), (Verdict::Blocked, true));
        manifest.claims.clear();
        assert!(not_asked(&case, &manifest, &catalogue, None).is_none());
    }

    #[test]
    fn what_another_platform_promises_is_asked_on_fixtures_only() {
        let catalogue = Catalogue::parse("| FS-06 | W | must | a | b |\n").unwrap();
        let manifest = Manifest::parse("name: n\nkind: factory\nplatforms: [linux]\ncommands: {run: [x]}\n").unwrap();
        for (tag, asked) in [("fixture", true), ("extra", false)] {
            let text = TEXT.replace("@extra", &format!("@{tag}"));
            let mut feature = vec![Feature::parse(text, GherkinEnv::default()).unwrap()];
            mark_not_asked(&mut feature, &manifest, &catalogue, None);
            let step = &feature[0].rules[0].scenarios[0].steps[0].value;
            assert_eq!(step == "x", asked, "{tag}: {step}");
            assert!(asked || step.starts_with("not asked, not-applicable"), "{step}");
        }
    }

    #[test]
    fn a_background_is_done_for_what_is_asked_alone() {
        let text = TEXT.replace(
            "    @extra",
            "    Background:\n      Given b\n    @needs:yaml\n    Scenario: other\n      When y\n    @extra",
        );
        let text = text.replace("@needs:factory", "@tag");
        let mut features = vec![Feature::parse(&text, GherkinEnv::default()).unwrap().expand_examples().unwrap()];
        let manifest =
            Manifest::parse("name: x\nkind: sandbox\nplatforms: [linux, macos]\nlaunch: {open: []}\n").unwrap();
        let catalogue = Catalogue::parse("| FS-06 | LWM | must | a | b |\n").unwrap();
        mark_not_asked(&mut features, &manifest, &catalogue, None);
        let rule = &features[0].rules[0];
        let steps = |n: usize| rule.scenarios[n].steps.iter().map(|s| s.value.as_str()).collect::<Vec<_>>();
        assert_eq!(steps(0), ["not asked, not-claimed: it cannot be asked: it has no yaml"]);
        assert_eq!(steps(1), ["b", "x"]);
        assert!(rule.background.is_none());
    }
}
