import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import {
  annotationsOf,
  createApprovalPolicy,
  createRegistry,
  inputJsonSchema,
  isToolError,
  loadTools,
  serveTools,
  type ToolRegistry,
  workspaceTools,
} from '@stint/tools';
import type { CommandContext } from './command-context.js';
import { hasConfig, readConfig } from './config-file.js';
import { exitCodes } from './exit-codes.js';
import { usageFailure } from './failure.js';
import { type Output, terminalOutput } from './output.js';
import {
  containPlugins,
  endPluginProcess,
  isPluginProcess,
  openRealOutput,
  runInPluginProcess,
} from './plugin-process.js';
import { reportFault } from './report-fault.js';
import { endUnwritten } from './unwritten.js';
import { readVersion } from './version.js';

interface ToolsOptions {
  readonly dir?: string;
  readonly config?: string;
  readonly readOnly?: boolean;
}

/** `stint tools list`: every tool with its annotations and where it comes from. What cannot be loaded is named on stderr. */
export const listToolsCommand = (context: CommandContext): Promise<number> =>
  withPlugins(context, async ({ output, registry }) => {
    for (const tool of registry.list()) {
      const { name, description, source, aliases } = tool;
      const annotations = annotationsOf(tool);
      if (context.options.json) {
        output.json({ name, source, annotations, aliases, description, inputSchema: inputJsonSchema(tool) });
        continue;
      }
      const kind = annotations.readOnlyHint ? 'reads' : annotations.destructiveHint ? 'may destroy' : 'changes';
      output.line(`${name.padEnd(18)} ${kind.padEnd(12)} ${source.padEnd(10)} ${firstSentence(description)}`);
    }
  });

/** `stint tools serve`: the tools as an MCP server over stdio, until the client goes. Tools of other origin are refused: nobody can be asked here. */
export const serveToolsCommand = (context: CommandContext): Promise<number> =>
  withPlugins(context, async ({ registry, root, stdout }) => {
    const policy = createApprovalPolicy({
      rules: [
        { decision: 'allow', source: 'built-in' },
        { decision: 'ask', reason: 'the owner of this machine has not allowed it, and nobody can be asked over MCP' },
      ],
    });
    const served = { name: 'stint', version: readVersion(), policy, workspace: { root } };
    const server = await serveTools(registry, { ...served, ...(stdout === undefined ? {} : { output: stdout }) });
    await server.closed;
  });

/** What a command works with. */
interface Opened {
  readonly registry: ToolRegistry;
  readonly root: string;
  readonly output: Output;
  /** The real standard output, where that of this process is not it. */
  readonly stdout?: Writable;
}

/** Runs a command; where a configuration may bring modules in, in a process that they cannot spoil the result of. */
async function withPlugins(context: CommandContext, work: (opened: Opened) => Promise<void>): Promise<number> {
  const { environment, output, words } = context;
  const { config } = context.options as ToolsOptions;
  if (!isPluginProcess(environment)) {
    if (words !== undefined && hasConfig(config, process.cwd())) return runInPluginProcess(words, environment);
    await work({ ...(await openRegistry(context)), output });
    return exitCodes.done;
  }
  const stdout = openRealOutput(endUnwritten);
  const real = terminalOutput({ stdout, stderr: process.stderr, stdin: process.stdin });
  const open = async (): Promise<Opened> => ({ ...(await openRegistry(context)), output: real, stdout });
  const code = await open()
    .then(work)
    .then(
      () => exitCodes.done,
      (error: unknown) => reportFault(error, real, context.options.json === true),
    );
  return endPluginProcess(stdout, code);
}

async function openRegistry({
  options,
  output,
  environment,
}: CommandContext): Promise<{ readonly registry: ToolRegistry; readonly root: string }> {
  const { dir = '.', config: file, readOnly = false } = options as ToolsOptions;
  const root = rootOf(dir);
  const config = await readConfig(file, process.cwd());
  const registry = createRegistry(workspaceTools({ root, mode: readOnly ? 'read' : 'write', environment }));
  if (config.file === null) return { registry, root };
  const { tools, problems } = await loadTools(config.tools, {
    from: config.file,
    onModule: containPlugins(output.note),
  });
  for (const { specifier, exportName, message } of problems)
    output.note(
      `${config.file}: tools: "${specifier}"${exportName ? `, export "${exportName}"` : ''}: ${message}; the rest is loaded`,
    );
  for (const tool of tools) {
    try {
      registry.register(tool);
    } catch (error) {
      if (!isToolError(error)) throw error;
      output.note(`${config.file}: tools: "${tool.name}": ${error.message}; the rest is loaded`);
    }
  }
  return { registry, root };
}

function rootOf(dir: string): string {
  try {
    return realpathSync(resolve(dir));
  } catch (cause) {
    throw usageFailure(`The directory ${dir} cannot be opened.`, cause);
  }
}

function firstSentence(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  const end = line.search(/[.:](\s|$)/);
  return end < 0 ? line : line.slice(0, end);
}
