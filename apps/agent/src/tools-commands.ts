import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
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
import { readConfig } from './config-file.js';
import { exitCodes } from './exit-codes.js';
import { usageFailure } from './failure.js';
import { readVersion } from './version.js';

interface ToolsOptions {
  readonly dir?: string;
  readonly config?: string;
  readonly readOnly?: boolean;
}

/** `stint tools list`: every tool with its annotations and where it comes from. What cannot be loaded is named on stderr. */
export async function listToolsCommand(context: CommandContext): Promise<number> {
  const { registry } = await openRegistry(context);
  for (const tool of registry.list()) {
    const { name, description, source, aliases } = tool;
    const annotations = annotationsOf(tool);
    if (context.options.json) {
      context.output.json({
        name,
        source,
        annotations,
        aliases,
        description,
        inputSchema: inputJsonSchema(tool),
      });
      continue;
    }
    const kind = annotations.readOnlyHint ? 'reads' : annotations.destructiveHint ? 'may destroy' : 'changes';
    context.output.line(`${name.padEnd(18)} ${kind.padEnd(12)} ${source.padEnd(10)} ${firstSentence(description)}`);
  }
  return exitCodes.done;
}

/** `stint tools serve`: the tools as an MCP server over stdio, until the client goes. Tools of other origin are refused: nobody can be asked here. */
export async function serveToolsCommand(context: CommandContext): Promise<number> {
  const { registry, root } = await openRegistry(context);
  const policy = createApprovalPolicy({
    rules: [
      { decision: 'allow', source: 'built-in' },
      { decision: 'ask', reason: 'the owner of this machine has not allowed it, and nobody can be asked over MCP' },
    ],
  });
  const server = await serveTools(registry, { name: 'stint', version: readVersion(), policy, workspace: { root } });
  await server.closed;
  return exitCodes.done;
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
  const { tools, problems } = await loadTools(config.tools, { from: config.file });
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
