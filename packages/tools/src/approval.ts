import { resolve } from 'node:path';
import picomatch from 'picomatch';
import { callFacts, type CallFacts } from './call.js';
import { commandsIn } from './commands-in.js';
import { type ToolError, messageOf, refusal } from './errors.js';
import type { ApprovalFacts, Tool } from './tool.js';
import { matchesWildcard } from './wildcard.js';
import { confine, openWorkspace, shownPath } from './workspace.js';

/** What happens to a call. */
export type Approval = 'allow' | 'ask' | 'deny';

/** One rule. It speaks of the calls that match all of the fields it has. */
export interface ApprovalRule {
  readonly decision: Approval;
  /** Tool name; `*` stands for any characters. */
  readonly tool?: string;
  /** Where the tool comes from (`built-in`, `mcp:files`, ...); `*` stands for any characters. */
  readonly source?: string;
  /** Glob on the paths of the call, relative to the workspace: `src/**`. */
  readonly path?: string;
  /**
   * Shell command; `*` stands for any characters. Where the rule allows, a `*` right after a word stands for further words
   * only: `npm test*` covers `npm test` and `npm test -- -u`, not `npm testevil`.
   */
  readonly command?: string;
  /** Told with the decision. */
  readonly reason?: string;
}

/** A call to decide on. */
export interface ApprovalRequest extends CallFacts, ApprovalFacts {
  readonly tool: string;
  readonly source: string;
  readonly input: unknown;
  /** Set when the facts of the call could not be established: then nothing is allowed. */
  readonly problem?: string;
}

/** A decision with its ground. */
export interface ApprovalDecision {
  readonly decision: Approval;
  readonly reason: string;
}

/** Decides on a call. {@link decideApproval} asks it so that a crash or a hang denies. */
export type ApprovalPolicy = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;

/** @property otherwise decision where no rule matches. @default 'ask' */
export interface ApprovalPolicyOptions {
  readonly rules: readonly ApprovalRule[];
  readonly otherwise?: Approval;
}

const ORDER: readonly Approval[] = ['allow', 'ask', 'deny'];
const POLICY_TIMEOUT_MS = 5_000;
/** What lets one command line run more than one command, or write a file. */
const SHELL_OPERATORS = /[;&|<>`\n\r]|\$\(/;

/**
 * A policy from rules. A matching `deny` always wins; otherwise the first matching rule counts. A call with several
 * paths gets the strictest decision of them. A rule that allows by command does not cover a command line with
 * operators (`;`, `&&`, `|`, `>`, `$(...)`) unless it is that very line or `*`; rules that ask or deny look at every
 * part of it, in its usual spellings. They are a hint and no fence: a shell can be made to run a command in ways that no
 * rule sees. To keep commands out, allow those that may run, and deny or ask for the rest.
 * @throws ToolError `invalid_rule` naming the rule
 */
export function createApprovalPolicy(options: ApprovalPolicyOptions): ApprovalPolicy {
  const rules = options.rules.map(compileRule);
  const otherwise: ApprovalDecision = { decision: options.otherwise ?? 'ask', reason: 'no rule covers this call' };
  return (request) => {
    const paths = request.paths === undefined || request.paths.length === 0 ? [undefined] : request.paths;
    return paths.map((path) => decideOne(rules, request, path) ?? otherwise).reduce(stricter);
  };
}

/**
 * Asks a policy. Anything but a proper decision in time is `deny`: a throw, a hang, another shape; and facts of the
 * call that could not be established.
 * @param options.timeoutMs longest wait. @default 5_000
 */
export async function decideApproval(
  policy: ApprovalPolicy,
  request: ApprovalRequest,
  options: { readonly timeoutMs?: number } = {},
): Promise<ApprovalDecision> {
  if (request.problem !== undefined) return { decision: 'deny', reason: request.problem };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const limitMs = options.timeoutMs ?? POLICY_TIMEOUT_MS;
    timer = setTimeout(() => reject(new Error(`it gave no decision within ${limitMs} ms`)), limitMs);
  });
  try {
    const decided: unknown = await Promise.race([(async () => policy(request))(), late]);
    if (isDecision(decided)) return decided;
    return { decision: 'deny', reason: 'the approval policy gave something that is no decision' };
  } catch (error) {
    return { decision: 'deny', reason: `the approval policy failed: ${messageOf(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The request for a call with validated input. Paths are given as named and, where a link leads elsewhere, as reached,
 * both relative to the workspace.
 */
export async function approvalRequest(tool: Tool, input: unknown, workspaceRoot?: string): Promise<ApprovalRequest> {
  const known = { tool: tool.name, source: tool.source, input, ...callFacts(tool, input) };
  try {
    const { paths = [], command } =
      tool.approvalFacts === undefined ? ownFacts(input) : tool.approvalFacts(input as never);
    const reached = await Promise.all(paths.map((path) => bothPaths(path, workspaceRoot)));
    return { ...known, paths: [...new Set(reached.flat())], ...(command === undefined ? {} : { command }) };
  } catch (error) {
    return { ...known, problem: `what the call would touch is not clear: ${messageOf(error)}` };
  }
}

interface CompiledRule {
  readonly decision: ApprovalDecision;
  matches(request: ApprovalRequest, path: string | undefined): boolean;
}

function compileRule(rule: ApprovalRule, index: number): CompiledRule {
  if (!ORDER.includes(rule.decision))
    throw invalidRule(index, `its decision ${JSON.stringify(rule.decision)} is not allow, ask or deny`);
  for (const field of ['tool', 'source', 'path', 'command'] as const) {
    if (rule[field] !== undefined && (typeof rule[field] !== 'string' || rule[field] === ''))
      throw invalidRule(index, `its ${field} is not a text`);
  }
  const isPath =
    rule.path === undefined ? undefined : picomatch(rule.path, { dot: true, nonegate: true, noextglob: true });
  const decision = { decision: rule.decision, reason: rule.reason ?? `rule ${index + 1} says ${rule.decision}` };
  return {
    decision,
    matches: (request, path) =>
      (rule.tool === undefined || matchesWildcard(rule.tool, request.tool)) &&
      (rule.source === undefined || matchesWildcard(rule.source, request.source)) &&
      (isPath === undefined || (path !== undefined && isPath(path))) &&
      (rule.command === undefined ||
        (request.command !== undefined && coversCommand(rule.command, request.command, rule.decision))),
  };
}

function coversCommand(pattern: string, command: string, decision: Approval): boolean {
  const line = command.trim();
  if (decision === 'allow')
    return (
      pattern === '*' ||
      pattern === line ||
      (!SHELL_OPERATORS.test(line) && matchesWildcard(pattern, line, { byWords: true }))
    );
  return commandsIn(line).some((each) => matchesWildcard(pattern, each));
}

function decideOne(
  rules: readonly CompiledRule[],
  request: ApprovalRequest,
  path: string | undefined,
): ApprovalDecision | undefined {
  const matching = rules.filter((rule) => rule.matches(request, path)).map(({ decision }) => decision);
  return matching.find(({ decision }) => decision === 'deny') ?? matching[0];
}

function stricter(one: ApprovalDecision, other: ApprovalDecision): ApprovalDecision {
  return ORDER.indexOf(other.decision) > ORDER.indexOf(one.decision) ? other : one;
}

function isDecision(value: unknown): value is ApprovalDecision {
  if (typeof value !== 'object' || value === null) return false;
  const { decision, reason } = value as Partial<Record<keyof ApprovalDecision, unknown>>;
  return ORDER.includes(decision as Approval) && typeof reason === 'string';
}

function ownFacts(input: unknown): ApprovalFacts {
  if (typeof input !== 'object' || input === null) return {};
  const text = (field: string): string | undefined => {
    const value = Object.hasOwn(input, field) ? (input as Record<string, unknown>)[field] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const path = text('path');
  const command = text('command');
  return { ...(path === undefined ? {} : { paths: [path] }), ...(command === undefined ? {} : { command }) };
}

async function bothPaths(path: string, workspaceRoot: string | undefined): Promise<readonly string[]> {
  if (workspaceRoot === undefined || path.startsWith('output:')) return [path];
  const workspace = openWorkspace(workspaceRoot);
  const named = shownPath(workspace, resolve(workspace.root, path));
  return [named, (await confine(workspace, path)).shown];
}

function invalidRule(index: number, what: string): ToolError {
  return refusal('invalid_rule', `Approval rule ${index + 1} cannot be used: ${what}.`);
}
