/** Every place of a request, by dialect, in which a text can travel: what it is called, and what puts it there. */
import type { EstimatedRequest } from './estimate.js';

type Json = Record<string, unknown>;

/** Puts a text into a request that may hold others already. */
export type Place = readonly [name: string, put: (request: Json, text: string) => void];

const inBase64 = (text: string): string => Buffer.from(text).toString('base64');
const listIn = (holder: Json, name: string): unknown[] => (holder[name] ??= []) as unknown[];

const say = (list: string, turn: (text: string) => unknown) => (body: Json, text: string) => {
  listIn(body, list).push(turn(text));
};
const member = (name: string, value: (text: string) => unknown) => (body: Json, text: string) => {
  body[name] = [body[name], value(text)];
};

/** Values that look like files and images of some dialect, but travel as JSON where a tool's input or a result of it is. */
export const lookalikes: readonly ((text: string) => unknown)[] = [
  (text) => ({ type: 'file', text }),
  (text) => ({ type: 'image', svg: text }),
  (text) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: inBase64(text) } }),
  (text) => ({ type: 'input_image', image_url: `data:image/png;base64,${inBase64(text)}` }),
  (text) => ({ mediaType: 'image/png', data: inBase64(text) }),
  (text) => ({ type: 'file-data', mediaType: 'image/png', data: inBase64(text) }),
  (text) => ({ type: 'file', mediaType: 'application/pdf', data: inBase64(text) }),
  (text) => ({ type: 'file-id', text }),
  (text) => ({ inlineData: { mimeType: 'application/pdf', data: inBase64(text) } }),
];

const blocks: readonly (readonly [string, (text: string) => unknown])[] = [
  ['text', (text) => ({ type: 'text', text })],
  [
    'document of text',
    (text) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } }),
  ],
  [
    'document of content',
    (text) => ({
      type: 'document',
      source: {
        type: 'content',
        content: [
          { type: 'text', text },
          { type: 'text', text: '' },
        ],
      },
    }),
  ],
  [
    'document of text in base64',
    (text) => ({ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: inBase64(text) } }),
  ],
  [
    'document of no base64',
    (text) => ({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: text } }),
  ],
  ["document's context", (text) => ({ type: 'document', context: text, source: { type: 'file', file_id: 'f' } })],
  [
    'image of no base64',
    (text) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: text } }),
  ],
  [
    'image that is drawn in words',
    (text) => ({ type: 'image', source: { type: 'base64', media_type: 'image/svg+xml', data: inBase64(text) } }),
  ],
  ['search result', (text) => ({ type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text }] })],
  ['citation', (text) => ({ type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: text }] })],
  ['thinking', (text) => ({ type: 'thinking', thinking: text, signature: 's' })],
  ['redacted thinking', (text) => ({ type: 'redacted_thinking', data: text })],
  ['unknown block', (text) => ({ type: 'of_tomorrow', content: [{ type: 'image', note: text }] })],
];

const anthropic: readonly Place[] = [
  ['system', member('system', (text) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } }))],
  ['message', say('messages', (text) => ({ role: 'user', content: text }))],
  ...blocks.map(
    ([name, block]): Place => [name, say('messages', (text) => ({ role: 'user', content: [block(text)] }))],
  ),
  ...blocks.map(
    ([name, block]): Place => [
      `${name} in a tool's result`,
      say('messages', (text) => ({ role: 'user', content: [{ type: 'tool_result', content: [block(text)] }] })),
    ],
  ),
  ...lookalikes.map(
    (value, index): Place => [
      `a tool's input ${index}`,
      say('messages', (text) => ({
        role: 'assistant',
        content: [{ type: 'tool_use', id: '1', name: 'w', input: value(text) }],
      })),
    ],
  ),
  ['tool', say('tools', (text) => ({ name: 't', description: text, input_schema: { type: 'object' } }))],
  [
    'schema',
    say('tools', (text) => ({ name: 't', input_schema: { type: 'image', source: { type: 'base64', data: text } } })),
  ],
  [
    'output format',
    member('output_config', (text) => ({ format: { type: 'json_schema', schema: { description: text } } })),
  ],
];

const chatPart = (part: (text: string) => unknown) =>
  say('messages', (text) => ({ role: 'user', content: [part(text)] }));

const openaiChat: readonly Place[] = [
  ['message', say('messages', (text) => ({ role: 'system', content: text }))],
  ['text', chatPart((text) => ({ type: 'text', text }))],
  ['refusal', chatPart((text) => ({ type: 'refusal', refusal: text }))],
  ['image of no address', chatPart((text) => ({ type: 'image_url', image_url: { url: text, detail: 'high' } }))],
  [
    'file of text',
    chatPart((text) => ({
      type: 'file',
      file: { filename: 'a.txt', file_data: `data:text/plain;base64,${inBase64(text)}` },
    })),
  ],
  ['file of unknown kind', chatPart((text) => ({ type: 'file', file: { file_data: inBase64(text) } }))],
  ["file's name", chatPart((text) => ({ type: 'file', file: { file_id: 'f', filename: text } }))],
  ['sound of no base64', chatPart((text) => ({ type: 'input_audio', input_audio: { format: 'mp3', data: text } }))],
  ['result of a tool', say('messages', (text) => ({ role: 'tool', tool_call_id: '1', content: text }))],
  ...lookalikes.map(
    (value, index): Place => [
      `arguments ${index}`,
      say('messages', (text) => ({
        role: 'assistant',
        tool_calls: [{ function: { name: 'f', arguments: JSON.stringify(value(text)) } }],
      })),
    ],
  ),
  ['tool', say('tools', (text) => ({ type: 'function', function: { name: 'f', description: text } }))],
  [
    'response format',
    member('response_format', (text) => ({ type: 'json_schema', json_schema: { schema: { description: text } } })),
  ],
  ['prediction', member('prediction', (text) => ({ type: 'content', content: text }))],
  ['member of tomorrow', member('of_tomorrow', (text) => ({ type: 'file', file_data: text }))],
];

const item = (name: string, part: (text: string) => unknown): readonly Place[] => [
  [name, say('input', (text) => ({ role: 'user', content: [part(text)] }))],
  [
    `${name} in an output`,
    say('input', (text) => ({ type: 'function_call_output', call_id: '1', output: [part(text)] })),
  ],
];

const openaiResponses: readonly Place[] = [
  ['instructions', member('instructions', (text) => text)],
  ...item('text', (text) => ({ type: 'input_text', text })),
  ...item('file of text', (text) => ({
    type: 'input_file',
    file_data: `data:text/csv;charset=utf-8;base64,${inBase64(text)}`,
  })),
  ...item('file of no base64', (text) => ({ type: 'input_file', file_data: text })),
  ...item('image of no base64', (text) => ({ type: 'input_image', image_url: `data:image/png;base64,${text}` })),
  ['output', say('input', (text) => ({ type: 'function_call_output', call_id: '1', output: text }))],
  ['reasoning', say('input', (text) => ({ type: 'reasoning', summary: [], encrypted_content: text }))],
  ['found passages', say('input', (text) => ({ type: 'file_search_call', results: [{ text }] }))],
  ...lookalikes.map(
    (value, index): Place => [
      `arguments ${index}`,
      say('input', (text) => ({ type: 'function_call', name: 'f', arguments: JSON.stringify(value(text)) })),
    ],
  ),
  ['tool', say('tools', (text) => ({ type: 'function', name: 'f', parameters: { description: text } }))],
  ['text format', member('text', (text) => ({ format: { type: 'json_schema', schema: { description: text } } }))],
];

const google: readonly Place[] = [
  ['system', member('systemInstruction', (text) => ({ parts: [{ text }] }))],
  ['text', say('contents', (text) => ({ role: 'user', parts: [{ text }] }))],
  [
    'data that is text',
    say('contents', (text) => ({ parts: [{ inlineData: { mimeType: 'text/csv', data: inBase64(text) } }] })),
  ],
  [
    'data in the other spelling',
    say('contents', (text) => ({ parts: [{ inline_data: { mime_type: 'application/json', data: inBase64(text) } }] })),
  ],
  [
    'data that is none',
    say('contents', (text) => ({ parts: [{ inlineData: { mimeType: 'image/png', data: text } }] })),
  ],
  ['signature', say('contents', (text) => ({ role: 'model', parts: [{ text: 'a', thoughtSignature: text }] }))],
  [
    'response',
    say('contents', (text) => ({ parts: [{ functionResponse: { name: 'f', response: { type: 'image', text } } }] })),
  ],
  ...lookalikes.map(
    (value, index): Place => [
      `arguments ${index}`,
      say('contents', (text) => ({ role: 'model', parts: [{ functionCall: { name: 'f', args: value(text) } }] })),
    ],
  ),
  ['tool', say('tools', (text) => ({ functionDeclarations: [{ name: 'f', description: text }] }))],
  ['schema', member('generationConfig', (text) => ({ responseSchema: { description: text } }))],
];

/** Bodies as they are sent, by dialect. */
export const rawPlaces = { anthropic, openaiChat, openaiResponses, google } as const;

const part = (make: (text: string) => unknown) => say('prompt', (text) => ({ role: 'user', content: [make(text)] }));
const output = (make: (text: string) => unknown) =>
  say('prompt', (text) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: '1', toolName: 't', output: make(text) }],
  }));
const options = (text: string) => ({ providerOptions: { maker: { note: text } } });

/** Requests in the form of the AI SDK. */
export const sdkPlaces: readonly Place[] = [
  ['system', say('prompt', (text) => ({ role: 'system', content: text }))],
  ["a message's options", say('prompt', (text) => ({ role: 'system', content: '', ...options(text) }))],
  ['text', part((text) => ({ type: 'text', text }))],
  ["a part's options", part((text) => ({ type: 'text', text: '', ...options(text) }))],
  ['reasoning', part((text) => ({ type: 'reasoning', text }))],
  ['redacted reasoning', part((text) => ({ type: 'reasoning', text: '', ...options(text) }))],
  ...['text/plain', 'application/json', 'application/pdf', 'image/png', 'audio/mpeg'].flatMap((mediaType): Place[] => [
    [`${mediaType} of no base64`, part((data) => ({ type: 'file', mediaType, data }))],
    [`${mediaType} tagged as text`, part((text) => ({ type: 'file', mediaType, data: { type: 'text', text } }))],
    [`the name of ${mediaType}`, part((filename) => ({ type: 'file', mediaType, data: 'AAAA', filename }))],
  ]),
  ...['text/plain', 'application/json', 'application/x-sh', 'image/svg+xml', 'of/tomorrow'].flatMap(
    (mediaType): Place[] => [
      [`bytes of ${mediaType}`, part((text) => ({ type: 'file', mediaType, data: new TextEncoder().encode(text) }))],
      [
        `${mediaType} in base64`,
        part((text) => ({ type: 'file', mediaType, data: { type: 'data', data: inBase64(text) } })),
      ],
    ],
  ),
  ...lookalikes.flatMap((value, index): Place[] => [
    [
      `a tool's input ${index}`,
      part((text) => ({ type: 'tool-call', toolCallId: '1', toolName: 't', input: value(text) })),
    ],
    [`a result ${index}`, output((text) => ({ type: 'json', value: value(text) }))],
    [`a list of results ${index}`, output((text) => ({ type: 'error-json', value: [value(text)] }))],
  ]),
  ['a result', output((value) => ({ type: 'text', value }))],
  ["a result's options", output((text) => ({ type: 'content', value: [], ...options(text) }))],
  ['a member', output((text) => ({ type: 'content', value: [{ type: 'text', text }] }))],
  [
    'a file in a result',
    output((data) => ({ type: 'content', value: [{ type: 'file-data', mediaType: 'image/png', data }] })),
  ],
  [
    'a text file in a result',
    output((text) => ({
      type: 'content',
      value: [{ type: 'file-data', mediaType: 'text/css', data: inBase64(text) }],
    })),
  ],
  ['an id in a result', output((fileId) => ({ type: 'content', value: [{ type: 'file-id', fileId }] }))],
  [
    'what is unknown in a result',
    output((text) => ({ type: 'content', value: [{ type: 'of-tomorrow', mediaType: 'image/png', data: text }] })),
  ],
  ['tool', say('tools', (description) => ({ type: 'function', name: 't', description, inputSchema: {} }))],
  ["a tool's options", say('tools', (text) => ({ type: 'function', name: 't', inputSchema: {}, ...options(text) }))],
  ['schema', (request, text) => settingOf(request, 'responseFormat', { type: 'json', schema: { description: text } })],
  ['options', (request, text) => settingOf(request, 'providerOptions', { maker: { instructions: text } })],
];

/** Settings hold one of each name; a second one stands beside the first. */
function settingOf(request: Json, name: string, value: Json): void {
  const settings = (request.settings ??= {}) as Json;
  settings[name] = {
    ...(settings[name] as Json | undefined),
    [`more${Object.keys(settings[name] ?? {}).length}`]: value,
  };
}

export function sdkRequest(): EstimatedRequest & Json {
  return { model: 'simulated:any', prompt: [], tools: [], settings: { maxOutputTokens: 10 } };
}
