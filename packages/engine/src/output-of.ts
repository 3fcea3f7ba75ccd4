import { createRegistry, defineTool, type InputSchema, inputJsonSchema } from '@stint/tools';
import type { OutputSpec } from './types.js';

/**
 * A final answer of this shape, for option `output`: any Standard Schema (zod) or a JSON Schema. The provider is told the
 * shape, the answer is checked and parsed by it, and what does not fit is named by its field.
 *
 * @param name what the provider calls it: letters, digits, `_` and `-`
 * @throws ToolError `invalid_schema`, if the schema cannot be told as JSON Schema
 */
export function outputOf(schema: InputSchema, name = 'answer'): OutputSpec {
  // What checks a tool's input checks an answer alike.
  const shape = defineTool({ name, description: 'The final answer', inputSchema: schema, execute: () => '' });
  const registry = createRegistry([shape]);
  return {
    name,
    schema: inputJsonSchema(shape),
    async parse(value) {
      const checked = await registry.prepare(name, value);
      if ('refused' in checked) throw new TypeError(checked.refused.output.replace(/^Invalid input for \S+ /, ''));
      return checked.call.input;
    },
  };
}
