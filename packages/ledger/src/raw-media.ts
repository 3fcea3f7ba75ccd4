/** Where the raw requests of each dialect carry images and files. */

export type Fields = Readonly<Record<string, unknown>>;

/** An image or a file of a request. Only its bytes are not part of the request's text. */
export interface RawMedia {
  /** `image`, or as the request tells it. */
  readonly mediaType: string;
  /** Where its bytes stand in base64, maybe as a `data:` address; absent if it is named by an address or an id. */
  readonly bytes?: { readonly holder: Fields; readonly member: string };
}

/** What is read as text where nothing tells a kind. */
const unknownType = 'application/octet-stream';
const pdfStart = 'JVBERi';

/**
 * The images and files of a body, in the places where a dialect takes them: in the content of messages (Anthropic, OpenAI chat), in items of
 * the input and their outputs (OpenAI responses), in parts of contents (Google), and in what those say that they contain. Arguments of tools,
 * their descriptions and schemas are never looked into: whatever is in there is sent as text.
 */
export function mediaOf(body: Fields): readonly RawMedia[] {
  const turns = [...fieldsIn(body.messages), ...fieldsIn(body.input), ...fieldsIn(body.contents)];
  return [...turns.flatMap(partsOfTurn).flatMap(withInner).flatMap(mediaOfPart), ...turns.flatMap(spokenAnswer)];
}

/** OpenAI chat: an answer that was spoken comes back by its id, `{ role: 'assistant', audio: { id } }`. */
function spokenAnswer({ audio }: Fields): readonly RawMedia[] {
  return fieldsOf(audio)?.id === undefined ? [] : [{ mediaType: 'audio' }];
}

function partsOfTurn(turn: Fields): readonly Fields[] {
  const outputs = Array.isArray(turn.output) ? fieldsIn(turn.output) : fieldsIn([turn.output]);
  return [turn, ...fieldsIn(turn.content), ...fieldsIn(turn.parts), ...outputs];
}

/** Parts that contain parts: Anthropic's tool results, fetched pages and documents made of content, Google's responses of functions. */
function withInner(part: Fields): readonly Fields[] {
  const { type, source, functionResponse } = part;
  if (type === 'tool_result') return [part, ...fieldsIn(part.content).flatMap(withInner)];
  if (type === 'web_fetch_tool_result') return [part, ...fieldsIn([fieldsOf(part.content)?.content])];
  if (type === 'document' && fieldsOf(source)?.type === 'content')
    return [part, ...fieldsIn(fieldsOf(source)?.content).flatMap(withInner)];
  return type === undefined ? [part, ...fieldsIn(fieldsOf(functionResponse)?.parts)] : [part];
}

function mediaOfPart(part: Fields): readonly RawMedia[] {
  const read = typeof part.type === 'string' && Object.hasOwn(readers, part.type) ? readers[part.type] : undefined;
  return read === undefined ? mediaOfGoogle(part) : read(part);
}

type Reader = (part: Fields) => readonly RawMedia[];

/** How the media of a part is read, by the part's type. */
const readers: Readonly<Record<string, Reader>> = {
  image: (part) => mediaOfSource(part, 'image'),
  document: (part) => mediaOfSource(part, unknownType),
  image_url: (part) => mediaOfAddress(part, 'image_url', 'image'),
  input_image: (part) => mediaOfAddress(part, 'image_url', 'image', part.file_id),
  computer_screenshot: (part) => mediaOfAddress(part, 'image_url', 'image', part.file_id),
  image_generation_call: (part) => carried(part, 'result', 'image'),
  video_url: (part) => mediaOfAddress(part, 'video_url', 'video'),
  audio_url: (part) => mediaOfAddress(part, 'audio_url', 'audio'),
  input_audio: (part) => carried(fieldsOf(part.input_audio) ?? {}, 'data', 'audio'),
  input_file: mediaOfFile,
  file: (part) => mediaOfFile(fieldsOf(part.file) ?? {}),
};

/** Anthropic: `{ source: { type: 'base64', media_type, data } }`, or an address, or an id. A source of text or content is text. */
function mediaOfSource({ source }: Fields, mediaType: string): readonly RawMedia[] {
  const { type, media_type: told } = fieldsOf(source) ?? {};
  if (type === 'base64') return carried(source as Fields, 'data', typeof told === 'string' ? told : mediaType);
  return type === 'url' || type === 'file' ? [{ mediaType }] : [];
}

/** OpenAI: `{ image_url: { url } }` (chat) or `{ image_url }` (responses), with an address that may hold the bytes, or an id. */
function mediaOfAddress(part: Fields, member: string, mediaType: string, id?: unknown): readonly RawMedia[] {
  const inner = fieldsOf(part[member]);
  const [holder, name] = inner === undefined ? [part, member] : [inner, 'url'];
  const address = holder[name];
  if (typeof address === 'string' && address.startsWith('data:')) return carried(holder, name, mediaType);
  return typeof address === 'string' || typeof id === 'string' ? [{ mediaType }] : [];
}

/** OpenAI: `{ file_data }` in base64 or as an address that holds it, `{ file_url }` or `{ file_id }`. */
function mediaOfFile(file: Fields): readonly RawMedia[] {
  const { file_data: data, file_url: url, file_id: id } = file;
  if (typeof data === 'string')
    return carried(file, 'file_data', data.startsWith(pdfStart) ? 'application/pdf' : unknownType);
  return typeof url === 'string' || typeof id === 'string' ? [{ mediaType: unknownType }] : [];
}

/** Google: `{ inlineData: { mimeType, data } }`, `{ fileData: { mimeType, fileUri } }`; its names are taken in both spellings. */
function mediaOfGoogle(part: Fields): readonly RawMedia[] {
  if (part.type !== undefined) return [];
  const inline = fieldsOf(part.inlineData ?? part.inline_data);
  const file = fieldsOf(part.fileData ?? part.file_data);
  const told = ({ mimeType, mime_type: other = mimeType }: Fields): string =>
    typeof other === 'string' ? other : unknownType;
  return [
    ...(inline === undefined ? [] : carried(inline, 'data', told(inline))),
    ...(file ? [{ mediaType: told(file) }] : []),
  ];
}

function carried(holder: Fields, member: string, mediaType: string): readonly RawMedia[] {
  return typeof holder[member] === 'string' ? [{ mediaType, bytes: { holder, member } }] : [];
}

/** The objects of a list; none if it is no list. */
export function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.map(fieldsOf).filter((each) => each !== undefined) : [];
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
