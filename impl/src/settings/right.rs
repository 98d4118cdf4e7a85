//! What would be right at a key, with an example: for whoever has written something of another kind there.

/// By the key path, as it is printed.
pub fn at(key: &str) -> &'static str {
    let names: Vec<&str> = key.split('.').map(|part| part.split('[').next().unwrap_or(part)).collect();
    match names.as_slice() {
        [""] | [] => "the file has the blocks sandbox:, repos: and steps:",
        ["sandbox"] => "a block, such as {mode: required, network: allowlist}",
        ["repos"] => "a block of repos by name, such as {demo: {path: ~/src/demo}}",
        ["steps"] => "a block of steps by name, such as {build: {run: [make, test]}}",
        ["repos", _] => "a block, such as {path: ~/src/demo}",
        ["steps", _] => "a block, such as {run: [make, test]}",
        ["repos", _, "sandbox"] => "the word off or the word required",
        ["steps", .., "env", _] => "text, such as \"1\"",
        [.., last] => of(last),
    }
}

fn of(name: &str) -> &'static str {
    match name {
        "sandbox" => "the word off, the word required, or a block such as {mode: required, network: allowlist}",
        "mode" => "off or required",
        "network" => "open or allowlist",
        "sni" => "check or off",
        "provider_hosts" | "per_repo" | "interactive" => "true or false",
        "egress" => "a block, such as {allow: [github.com]}",
        "allow" => "a list of hosts, such as [github.com, '*.example.com']",
        "allow_read" | "allow_write" => {
            "a list of paths, such as [~/library]; ~ alone is YAML's null, so the home is ~/"
        }
        "inject" => {
            "a list of entries, such as [{name: api, upstream: https://api.example.com, base_url_env: API_URL, key_env: API_KEY}], or the word provider"
        }
        "repos" => "a list of names under repos:, such as [demo]",
        "run" | "handshake" => "a list: a program and its arguments, such as [make, test]",
        "args" => "a list of arguments, such as [--model, opus]",
        "sign" => "a public key of yours, such as ~/.ssh/id_ed25519.pub",
        "setup" => "a list of commands, such as [[npm, ci]]",
        "env" => "a block of variables, such as {CI: \"1\"}",
        "requires" => "a list of capabilities, such as [network]",
        "path" => "a path, such as ~/src/demo",
        "prompt" => "what the agent is told, as text",
        "provider" => "the name of an agent; `kusaw providers` lists them",
        "uses" => "the name of a built-in step, such as test",
        "name" | "secret" => "a name, such as api",
        "upstream" => "the provider's origin, such as https://api.example.com",
        "header" => "the header that holds the key, such as authorization",
        "format" => "the header's value, such as 'Bearer {}'",
        "base_url_env" | "key_env" => "the variable that the client reads, such as OPENAI_API_KEY",
        "base_path" => "what is behind the address, such as /v1",
        _ => "see docs/os-sandbox.md, Settings",
    }
}
