import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { usageFailure } from './failure.js';

/** What a configuration file may say. Unknown keys are refused by name. */
const configSchema = z.strictObject({
  /** Modules (`./my-tools.js`) and packages (`@acme/stint-tools`) whose exports are tools. */
  tools: z.array(z.string().min(1)).optional(),
});

/** A configuration and the file it came from. */
export interface Config {
  readonly file: string | null;
  readonly tools: readonly string[];
}

const names = ['stint.config.js', 'stint.config.mjs', 'stint.config.json'];

/**
 * Reads `given`, else the first stint.config.{js,mjs,json} in `directory`, else that in ~/.config/stint. Without one nothing is configured.
 * @throws CommandFailure (usage) naming the file, the key and what it must be
 */
export async function readConfig(given: string | undefined, directory: string): Promise<Config> {
  const file = given === undefined ? findConfig(directory) : resolve(directory, given);
  if (file === null) return { file, tools: [] };
  const parsed = configSchema.safeParse(await load(file));
  if (parsed.success) return { file, tools: parsed.data.tools ?? [] };
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`);
  throw usageFailure(
    `The configuration ${file} is not valid: ${problems.join('; ')}. It may hold: tools (a list of modules or packages).`,
  );
}

/** True if {@link readConfig} would read a file. */
export const hasConfig = (given: string | undefined, directory: string): boolean =>
  given !== undefined || findConfig(directory) !== null;

function findConfig(directory: string): string | null {
  const places = [directory, join(homedir(), '.config/stint')];
  return places.flatMap((place) => names.map((name) => join(place, name))).find((path) => existsSync(path)) ?? null;
}

async function load(file: string): Promise<unknown> {
  try {
    if (extname(file) === '.json') return JSON.parse(readFileSync(file, 'utf8'));
    return ((await import(pathToFileURL(file).href)) as { readonly default?: unknown }).default;
  } catch (cause) {
    throw usageFailure(
      `The configuration ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      cause,
    );
  }
}
