import { invalidField } from './errors.js';
import { workItemLimits as limits } from './limits.js';
import { boundedText } from './text.js';

export type EvidenceKind = 'text' | 'file' | 'test' | 'link' | 'pr' | 'commit';
export type CheckStatus = 'passed' | 'failed' | 'deferred' | 'not_applicable';

export interface CriterionCheck {
  readonly criterionId: string;
  readonly status: CheckStatus;
  readonly evidence: string;
}

/** What a completed Run hands over. */
export interface Outcome {
  readonly summary: string;
  readonly evidence: readonly { readonly kind: EvidenceKind; readonly value: string }[];
  readonly checks: readonly CriterionCheck[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  readonly residualRisks: readonly string[];
}

/** Throws `invalid_field` unless the outcome keeps the bounds and names each criterion at most once. */
export function checkOutcome(outcome: Outcome): Outcome {
  boundedText('outcome.summary', outcome.summary, limits.summaryBytes);
  count('outcome.evidence', outcome.evidence.length, limits.evidenceCount);
  for (const [index, item] of outcome.evidence.entries()) {
    boundedText(`outcome.evidence[${index}]`, item.value, limits.lineBytes);
    checkReference(`outcome.evidence[${index}]`, item);
  }
  count('outcome.outputs', outcome.outputs.length, limits.responseCount);
  for (const [index, item] of outcome.outputs.entries()) {
    boundedText(`outcome.outputs[${index}]`, item.value, limits.outputBytes);
  }
  count('outcome.residualRisks', outcome.residualRisks.length, limits.residualRiskCount);
  for (const [index, risk] of outcome.residualRisks.entries()) {
    boundedText(`outcome.residualRisks[${index}]`, risk, limits.lineBytes);
  }
  checkChecks(outcome.checks);
  return outcome;
}

function checkChecks(checks: readonly CriterionCheck[]): void {
  count('outcome.checks', checks.length, limits.criteriaCount);
  const seen = new Set<string>();
  for (const [index, check] of checks.entries()) {
    const field = `outcome.checks[${index}]`;
    if (seen.has(check.criterionId)) throw invalidField(field, `criterion ${check.criterionId} is checked twice`);
    seen.add(check.criterionId);
    if (check.status === 'passed') boundedText(`${field}.evidence`, check.evidence, limits.lineBytes);
  }
}

function count(field: string, actual: number, maximum: number): void {
  if (actual > maximum) throw invalidField(field, `has ${actual} entries; at most ${maximum} are kept`);
}

/**
 * One rule for references, used wherever evidence is written: a file stays inside the workspace, a link and a pull
 * request are plain http(s) addresses, a commit is a hexadecimal name.
 */
function checkReference(field: string, item: Outcome['evidence'][number]): void {
  if (item.kind === 'file' && leavesWorkspace(item.value)) {
    throw invalidField(field, `file ${JSON.stringify(item.value)} is not a path inside the workspace`);
  }
  if ((item.kind === 'link' || item.kind === 'pr') && !isWebAddress(item.value)) {
    throw invalidField(field, `${JSON.stringify(item.value)} is not an http or https address`);
  }
  if (item.kind === 'commit' && !/^[0-9a-f]{7,64}$/.test(item.value)) {
    throw invalidField(field, `${JSON.stringify(item.value)} is not a commit name of 7 to 64 hexadecimal digits`);
  }
}

function leavesWorkspace(path: string): boolean {
  return /^([/\\~]|[a-z][a-z0-9+.-]*:)/i.test(path) || path.split(/[/\\]/).includes('..') || path.includes('\0');
}

function isWebAddress(value: string): boolean {
  if (/\s/.test(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  return (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '';
}
