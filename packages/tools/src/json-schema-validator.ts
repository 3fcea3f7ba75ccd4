import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { refusal } from './errors.js';
import type { JsonSchema } from './tool.js';

/** Checks a value; returns what is wrong with it, each line naming the field. Empty: valid. */
export type JsonValidator = (value: unknown) => readonly string[];

/** @property ignorePatterns `pattern` is not evaluated: a stranger's expression can stop the event loop. */
export interface JsonValidatorOptions {
  readonly ignorePatterns?: boolean;
}

const MAX_ERRORS_SHOWN = 8;

/**
 * Compiles a JSON Schema (draft-07 where `$schema` says so, else 2020-12). Every schema has a compiler of its own, so
 * that one schema's `$id` cannot meet another's.
 * @throws ToolError `invalid_schema`
 */
export function compileJsonSchema(schema: JsonSchema, options: JsonValidatorOptions = {}): JsonValidator {
  const settings: Options = {
    strict: false,
    allErrors: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
    ...(options.ignorePatterns ? { code: { regExp: patternThatAlwaysMatches } } : {}),
  };
  try {
    const { $schema, ...rest } = schema;
    const compiler = isDraft7($schema) ? new Ajv(settings) : new Ajv2020(settings);
    const validate = compiler.compile(rest);
    return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_ERRORS_SHOWN).map(describe));
  } catch (cause) {
    throw refusal('invalid_schema', `The input schema cannot be used: ${String((cause as Error).message)}`, cause);
  }
}

function isDraft7(dialect: unknown): boolean {
  return typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
}

/** In the shape ajv asks for: a regular-expression engine. */
const patternThatAlwaysMatches = Object.assign(() => ({ test: () => true }), { code: '() => ({ test: () => true })' });

function describe(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  const property = params['missingProperty'] ?? params['additionalProperty'];
  const name = [field, typeof property === 'string' ? property : ''].filter((part) => part !== '').join('.');
  if (error.keyword === 'required') return `${name}: is missing`;
  if (error.keyword === 'additionalProperties') return `${name}: is not a known field`;
  const allowed = error.keyword === 'enum' ? `: ${JSON.stringify(params['allowedValues'])}` : '';
  return `${name === '' ? 'input' : name}: ${error.message ?? error.keyword}${allowed}`;
}
