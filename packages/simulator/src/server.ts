import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicMessages } from './anthropic-messages.js';
import { chatCompletions } from './chat-completions.js';
import { historyProblem } from './check-history.js';
import { type Fault, type FaultName, describeFault, toFault } from './faults.js';
import { Gates } from './gates.js';
import { makeReply } from './make-reply.js';
import { PastAnswers } from './past-answers.js';
import { type ParsedRequest, type Protocol, parsedOrNull, record } from './protocol.js';
import { RequestLog, type ServedRequest } from './request-log.js';
import { responses } from './responses.js';
import { scenarioNamed } from './scenarios/index.js';
import type { Answer, ProtocolName, Scenario } from './scenario.js';
import { transmit } from './transmit.js';

/** What is known of a request before its body is read. */
export interface ArrivedRequest {
  /** 1 for the first request this server saw. */
  readonly ordinal: number;
  readonly turnId: string | null;
  readonly protocol: ProtocolName;
  readonly path: string;
}

export interface SimulatorOptions {
  /** A scenario, or the name of a built-in one. @default 'default' */
  readonly scenario?: Scenario | string | undefined;
  /** @default 0, a free port */
  readonly port?: number | undefined;
  /** @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** File that gets one JSON line for each request that ended. @default none */
  readonly log?: string | undefined;
  /** Decides for each request on a fault; wins over the scenario. The header `x-simulator-fault` wins over both. */
  readonly faults?: ((request: ArrivedRequest) => FaultName | Fault | null | undefined) | undefined;
}

export interface Simulator extends AsyncDisposable {
  /** Base address for a client; ends in `/v1`. */
  readonly url: string;
  /** The log file, if one was asked for. */
  readonly log: string | null;
  /** What was served so far, in order of arrival; an unfinished request has `endedAt: null`. */
  requests(): readonly ServedRequest[];
  /** Opens a gate that a scenario's `pauseUntil` names. */
  openGate(name: string): void;
  /** Settles when a stream waits at the gate, or has passed it. */
  gateReached(name: string): Promise<void>;
  /** Ends all connections and the server. */
  close(): Promise<void>;
}

const protocols: readonly Protocol[] = [chatCompletions, responses, anthropicMessages];
/** Where a redirect leads to: the same service, without faults. */
const redirected = '/redirected';
const maxBodyBytes = 64 * 1_048_576;

/** Starts a server. @throws TypeError for an unknown scenario name; rejects when the port or the log is not free. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { scenario = 'default', port = 0, host = '127.0.0.1', faults } = options;
  const played = typeof scenario === 'string' ? scenarioNamed(scenario) : scenario;
  const desk: Desk = {
    scenario: played,
    faults,
    log: new RequestLog(options.log ?? null),
    gates: new Gates(),
    past: new PastAnswers(),
    running: new Set(),
  };
  const server = createServer((request, response) => {
    // What is left to fail here is the log: an answer that cannot be logged is not given.
    handle(desk, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await Promise.all([closed, ...desk.running]);
  };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/v1`,
    log: desk.log.path,
    requests: () => desk.log.all(),
    openGate: (name) => desk.gates.open(name),
    gateReached: (name) => desk.gates.reached(name),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Desk {
  readonly scenario: Scenario;
  readonly faults: SimulatorOptions['faults'];
  readonly log: RequestLog;
  readonly gates: Gates;
  readonly past: PastAnswers;
  /** Requests that are being answered; closing waits until the last one is in the log. */
  readonly running: Set<Promise<void>>;
}

async function handle(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://simulator').pathname;
  const protocol = protocols.find((candidate) => path.endsWith(candidate.pathEnd));
  if (request.method === 'POST' && protocol !== undefined) {
    const serving = serve(desk, protocol, { path, request, response });
    desk.running.add(serving);
    return serving.finally(() => desk.running.delete(serving));
  }
  if (request.method === 'GET' && path.endsWith('/models')) return sendJson(response, 200, modelList);
  const past = request.method === 'GET' ? /\/responses\/([^/]+)$/.exec(path)?.[1] : undefined;
  if (past !== undefined) return answerPast(desk, decodeURIComponent(past), response);
  if (path.startsWith('/simulator/')) return control(desk, path, response);
  return sendJson(response, 404, { error: { message: `The simulator does not serve ${request.method} ${path}.` } });
}

const modelList = {
  object: 'list',
  data: ['default', 'slow', 'greedy', 'parallel', 'asks'].map((id) => ({ id, object: 'model', owned_by: 'simulator' })),
};

/** An answer of before. Asking for it is no request to the model: nothing is charged, and the log does not show it. */
function answerPast(desk: Desk, id: string, response: ServerResponse): void {
  const body = desk.past.bodyOf(id);
  if (body !== null) return sendJson(response, 200, body);
  return sendJson(response, 404, responses.errorBody(404, `Response with id '${id}' not found.`));
}

/** For tests in another process: read the log, open a gate. */
async function control(desk: Desk, path: string, response: ServerResponse): Promise<void> {
  const gate = /^\/simulator\/gates\/([^/]+)\/(open|reached)$/.exec(path);
  if (path === '/simulator/requests') return sendJson(response, 200, desk.log.all());
  if (gate?.[1] === undefined) return sendJson(response, 404, { error: { message: `Nothing at ${path}.` } });
  const name = decodeURIComponent(gate[1]);
  if (gate[2] === 'open') desk.gates.open(name);
  else await desk.gates.reached(name);
  return sendJson(response, 200, { gate: name });
}

interface Exchange {
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function serve(desk: Desk, protocol: Protocol, exchange: Exchange): Promise<void> {
  const { path, request, response } = exchange;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const turnId = request.headers['x-client-request-id'];
  const arrived = { turnId: typeof turnId === 'string' ? turnId : null, protocol: protocol.name, path };
  const ordinal = desk.log.open({ ...arrived, startedAt: Date.now() });
  let ending: Partial<ServedRequest>;
  try {
    const early = chosenFault(desk, { ...arrived, ordinal }, request);
    ending = await answerRequest({ desk, protocol, exchange, ordinal, early, signal: gone.signal });
  } catch (error) {
    ending = { status: 500, error: error instanceof Error ? error.message : String(error) };
    if (!response.headersSent) sendJson(response, 500, protocol.errorBody(500, `Scenario failed: ${ending.error}`));
    else response.socket?.destroy();
  }
  desk.log.end(ordinal, { ...ending, endedAt: Date.now() });
}

interface Service {
  readonly desk: Desk;
  readonly protocol: Protocol;
  readonly exchange: Exchange;
  readonly ordinal: number;
  readonly early: Fault | null;
  readonly signal: AbortSignal;
}

async function answerRequest(service: Service): Promise<Partial<ServedRequest>> {
  const { desk, protocol, exchange, ordinal, early, signal } = service;
  const { path, request, response } = exchange;
  if (early?.name === 'reset_before_read') return reset(response, early);
  const body = parsedOrNull(await readBody(request));
  if (body === null) return refuse(service, 400, 'The request body is not JSON.');
  const parsed = protocol.parseRequest(record(body));
  const problem = historyProblem(protocol.name, parsed.messages, record(body));
  if (problem !== null) return refuse(service, 400, problem);
  const answer = desk.scenario({ ...parsed, variants: variantsOf(parsed.model), protocol: protocol.name });
  const fault = path.startsWith(redirected)
    ? null
    : (early ?? (answer.fault === undefined ? null : toFault(answer.fault)));
  const known = { model: parsed.model, stream: parsed.stream, fault: fault?.name ?? null };
  desk.log.update(ordinal, known);
  const refusal = refuseByFault(service, fault);
  if (refusal !== null) return { ...known, ...refusal };
  return { ...known, ...(await writeAnswer({ service, parsed, answer, fault, signal })) };
}

async function writeAnswer(work: {
  readonly service: Service;
  readonly parsed: ParsedRequest;
  readonly answer: Answer;
  readonly fault: Fault | null;
  readonly signal: AbortSignal;
}): Promise<Partial<ServedRequest>> {
  const { service, parsed, answer, fault, signal } = work;
  const counted = makeReply({ ...parsed, includeUsage: true }, answer, null).usage;
  const reply = makeReply(parsed, answer, fault);
  const served = {
    status: 200,
    inputTokens: counted?.inputTokens ?? 0,
    outputTokens: counted?.outputTokens ?? 0,
    reportedUsage: parsed.stream && !parsed.includeUsage && !reply.cumulative ? null : reply.usage,
    finishReason: reply.finishReason,
    toolCalls: reply.toolCalls.map((call) => call.name),
  };
  service.desk.log.update(service.ordinal, served);
  const { protocol, exchange, desk, ordinal } = service;
  const { response } = exchange;
  const beforeLast = () => desk.log.end(ordinal, { complete: true, endedAt: Date.now() });
  const { stream } = parsed;
  const { gates } = desk;
  const isKept = parsed.isKept === true && protocol.pastBody !== undefined;
  if (isKept) desk.past.keep(protocol, reply, 'in_progress');
  const complete = await transmit({ response, protocol, reply, answer, fault, stream, gates, signal, beforeLast });
  if (isKept) desk.past.keep(protocol, reply, fault?.name === 'server_error_after_bytes' ? 'failed' : 'completed');
  return { ...served, complete };
}

function refuseByFault(service: Service, fault: Fault | null): Partial<ServedRequest> | null {
  if (fault === null) return null;
  const { response, path } = service.exchange;
  if (fault.name === 'reset_after_read' || fault.name === 'reset_before_read') return reset(response, fault);
  if (fault.name === 'redirect') return redirect(response, path);
  const { status, summary } = describeFault(fault.name);
  if (status === null || status < 400) return null;
  if (fault.name === 'rate_limit_retry_after') response.setHeader('retry-after', fault.retryAfter ?? '1');
  return refuse(service, status, summary);
}

function refuse(service: Service, status: number, message: string): Partial<ServedRequest> {
  sendJson(service.exchange.response, status, service.protocol.errorBody(status, message));
  return { status, error: message };
}

/** The place it leads to answers without the fault, so that a client which follows is found in the log. */
function redirect(response: ServerResponse, path: string): Partial<ServedRequest> {
  response.writeHead(307, { location: `${redirected}${path}` }).end();
  return { status: 307 };
}

function reset(response: ServerResponse, fault: Fault): Partial<ServedRequest> {
  response.socket?.resetAndDestroy();
  return { status: null, fault: fault.name };
}

function chosenFault(desk: Desk, arrived: ArrivedRequest, request: IncomingMessage): Fault | null {
  if (arrived.path.startsWith(redirected)) return null;
  const header = request.headers['x-simulator-fault'];
  const chosen = typeof header === 'string' ? (header as FaultName) : desk.faults?.(arrived);
  return chosen === null || chosen === undefined ? null : toFault(chosen);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new RangeError(`The request is larger than ${maxBodyBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function variantsOf(model: string): readonly string[] {
  return model.slice(model.lastIndexOf(':') + 1).split('+');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
