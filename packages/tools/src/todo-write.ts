import { type Tool, defineTool } from './tool.js';

const MAX_ITEMS = 100;
const MARKS: ReadonlyMap<unknown, string> = new Map([
  ['pending', '[ ]'],
  ['in_progress', '[~]'],
  ['completed', '[x]'],
]);

/** One line of the list. */
export interface TodoItem {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

/** @property onChange told the new list, for display */
export interface TodoOptions {
  readonly onChange?: (items: readonly TodoItem[]) => void;
}

/** The tool `todo_write`: a list that the model keeps for itself. It lives as long as the run. */
export function todoWriteTool(options: TodoOptions = {}): Tool {
  return defineTool({
    name: 'todo_write',
    description: `Replaces your to-do list. Send the whole list each time; at most ${MAX_ITEMS} items.`,
    inputSchema: {
      type: 'object',
      properties: {
        items: {
          type: 'array',
          maxItems: MAX_ITEMS,
          items: {
            type: 'object',
            properties: {
              content: { type: 'string', minLength: 1, maxLength: 500 },
              status: { enum: [...MARKS.keys()] },
            },
            required: ['content', 'status'],
            additionalProperties: false,
          },
        },
      },
      required: ['items'],
      additionalProperties: false,
    },
    sideEffectScope: 'run',
    errorOutput: null,
    source: 'built-in',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    execute(input) {
      const items = input['items'] as readonly TodoItem[];
      options.onChange?.(items);
      return items.length === 0
        ? '(empty list)'
        : items.map(({ content, status }) => `${MARKS.get(status)} ${content}`).join('\n');
    },
  });
}
