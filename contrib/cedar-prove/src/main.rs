//! Prove for all requests of a schema that a change of Cedar policies allows nothing that was not allowed before.
//!
//! `authzctl cedar prove` names a file with one JSON object (Question) and reads one JSON object per line from the standard
//! output. Each line is the result of one check in one request environment of the schema (types of principal, action and
//! resource):
//!
//! - `errors`: a policy of the new set never has an error in it,
//! - `implies`: what the new set allows, the old set allows.
//!
//! The solver is the program cvc5 on PATH, or the one that the environment variable CVC5 names.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use cedar_policy::{Policy, PolicyId, PolicySet, RequestEnv, Schema};
use cedar_policy_symcc::err::Error;
use cedar_policy_symcc::solver::LocalSolver;
use cedar_policy_symcc::{CedarSymCompiler, CompiledPolicy, CompiledPolicySet, Env};
use serde::Deserialize;
use serde_json::{json, Value};

/// In mode guard a forbid alone matters: a permit has no effect.
const PERMIT_ALL: &str = "permit(principal, action, resource);";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// Schema of Cedar in its own format.
    schema: String,
    /// Text of each file of the new policies, by path.
    new: BTreeMap<String, String>,
    /// Text of each file of the policies that they replace.
    old: BTreeMap<String, String>,
    /// True: permits have no effect (mode guard).
    guard: bool,
    /// Limit of each check, in seconds.
    seconds: u64,
}

struct Policies {
    set: PolicySet,
    /// The policies of the files, each with its name PATH#NUMBER.
    named: Vec<Policy>,
}

/// Read the policies of some files into one set.
fn read_policies(files: &BTreeMap<String, String>, guard: bool) -> Result<Policies, String> {
    let mut read = Policies { set: PolicySet::new(), named: Vec::new() };
    for (path, text) in files {
        let file: PolicySet = text.parse().map_err(|error| format!("{path}: {error}"))?;
        if file.templates().next().is_some() {
            return Err(format!("{path}: a template cannot be proved"));
        }
        let mut policies: Vec<&Policy> = file.policies().collect();
        // policy0, policy1 and so on: by number, not by text.
        policies.sort_by_key(|policy| (policy.id().to_string().len(), policy.id().to_string()));
        for (number, policy) in policies.into_iter().enumerate() {
            let policy = policy.new_id(PolicyId::new(format!("{path}#{number}")));
            read.set.add(policy.clone()).map_err(|error| format!("{path}: {error}"))?;
            read.named.push(policy);
        }
    }
    if guard {
        let permit = Policy::parse(Some(PolicyId::new("permit")), PERMIT_ALL).map_err(|error| error.to_string())?;
        read.set.add(permit).map_err(|error| error.to_string())?;
    }
    Ok(read)
}

/// Return a counterexample as the files of `authzctl cedar authorize` have it.
fn shown(found: &Env) -> Value {
    let request = &found.request;
    let context = request.context().and_then(|context| context.to_json_value().ok());
    json!({
        "request": {
            "principal": request.principal().map(ToString::to_string),
            "action": request.action().map(ToString::to_string),
            "resource": request.resource().map(ToString::to_string),
            "context": context,
        },
        "entities": found.entities.to_json_value().ok(),
    })
}

/// Return the word for a check that ended without an answer, and why.
fn undecided(error: &Error) -> (&'static str, String) {
    match error {
        Error::PolicyNotWellTyped { errs } => {
            ("untyped", errs.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        }
        other => ("unknown", other.to_string()),
    }
}

/// The checks of one environment, and where their lines go.
struct Prover<'a> {
    schema: &'a Schema,
    environment: RequestEnv,
    seconds: u64,
}

impl Prover<'_> {
    /// Print one line.
    fn tell(&self, check: &str, policy: Option<&Policy>, answer: Result<Option<Env>, Error>) -> io::Result<()> {
        let (result, why) = match &answer {
            Ok(None) => ("proved", String::new()),
            Ok(Some(_)) => ("counterexample", String::new()),
            Err(error) => undecided(error),
        };
        let mut line = json!({
            "check": check,
            "principal": self.environment.principal().to_string(),
            "action": self.environment.action().to_string(),
            "resource": self.environment.resource().to_string(),
            "result": result,
        });
        if let Some(policy) = policy {
            line["policy"] = json!(policy.id().to_string());
        }
        if !why.is_empty() {
            line["why"] = json!(why);
        }
        if let Ok(Some(found)) = &answer {
            line["found"] = shown(found);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    }

    /// Return a compiler with a solver of its own: one that has reached its limit of time answers no more.
    fn solver(&self) -> Result<CedarSymCompiler<LocalSolver>, Error> {
        let limit = format!("--tlimit-per={}", self.seconds * 1000);
        CedarSymCompiler::new(LocalSolver::cvc5_with_args([limit])?)
    }

    async fn never_errors(&self, policy: &Policy) -> Result<Option<Env>, Error> {
        let compiled = CompiledPolicy::compile(policy, &self.environment, self.schema)?;
        self.solver()?.check_never_errors_with_counterexample_opt(&compiled).await
    }

    async fn implies(&self, new: &PolicySet, old: &PolicySet) -> Result<Option<Env>, Error> {
        let new = CompiledPolicySet::compile(new, &self.environment, self.schema)?;
        let old = CompiledPolicySet::compile(old, &self.environment, self.schema)?;
        self.solver()?.check_implies_with_counterexample_opt(&new, &old).await
    }

    async fn run(&self, new: &Policies, old: &Policies) -> io::Result<()> {
        for policy in &new.named {
            self.tell("errors", Some(policy), self.never_errors(policy).await)?;
        }
        self.tell("implies", None, self.implies(&new.set, &old.set).await)
    }
}

async fn prove() -> Result<(), String> {
    let file = std::env::args_os().nth(1).ok_or("usage: authz-cedar-prove FILE")?;
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let question: Question = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let (schema, _) = Schema::from_cedarschema_str(&question.schema).map_err(|error| format!("schema: {error}"))?;
    let new = read_policies(&question.new, question.guard)?;
    let old = read_policies(&question.old, question.guard)?;
    let mut environments: Vec<RequestEnv> = schema.request_envs().collect();
    environments.sort_by_key(|one| (one.action().to_string(), one.principal().to_string(), one.resource().to_string()));
    for environment in environments {
        let prover = Prover { schema: &schema, environment, seconds: question.seconds };
        prover.run(&new, &old).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(prove()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("authz-cedar-prove: {error}");
            ExitCode::FAILURE
        }
    }
}
