import * as z from 'zod';
import { eventSchema, progressSchema } from './event.js';
import { countSchema, idSchema, lineSchema, openEnum, timeSchema } from './scalars.js';

/**
 * What went wrong with one request. `retryable` = the same request may succeed later. Codes are stable words such as `invalid_input`, `unknown_operation`,
 * `agent_offline`, `timeout`, `too_large`, `not_found`, `person_only`, `store_busy`, `internal`.
 */
export const wireErrorSchema = z.object({
  code: z.string().min(1).max(128),
  message: lineSchema,
  retryable: z.boolean(),
});
export type WireError = Readonly<z.infer<typeof wireErrorSchema>>;

/** One agent of the user and whether it is connected. */
export const agentPresenceSchema = z.object({
  id: idSchema,
  name: lineSchema,
  online: z.boolean(),
  /** Id of its store; a changed one means everything is read again. null = never seen. */
  storeId: idSchema.nullable(),
  /** When it was last heard of; null = never. */
  seenAt: timeSchema.nullable(),
});
export type AgentPresence = Readonly<z.infer<typeof agentPresenceSchema>>;

const protocolRangeShape = { min: z.int().min(1), max: z.int().min(1) };
const operationNameSchema = z.string().min(1).max(64);

// Frames that ask: strict, unknown keys are refused.

/** First frame of a browser. */
export const browserHelloSchema = z.strictObject({
  type: z.literal('hello'),
  protocol: z.strictObject(protocolRangeShape),
  client: z.string().max(128),
});

/** A browser asks an agent for something. There is no field for who asks: the bridge knows from the cookie. */
export const browserRequestSchema = z.strictObject({
  type: z.literal('request'),
  /** Chosen by the browser, unique on its socket. */
  id: idSchema,
  /** Absent = the only agent. */
  agentId: idSchema.optional(),
  operation: operationNameSchema,
  input: z.unknown(),
});

/** What this socket wants to hear of, whole: it replaces what the socket was attached to before. */
export const attachSchema = z.strictObject({
  type: z.literal('attach'),
  /** Grows with each attach of a socket; what was asked for by an older one is dropped. */
  generation: countSchema,
  /** Events of every item. */
  board: z.boolean(),
  items: z
    .array(
      z.strictObject({
        itemId: idSchema,
        /** Last seq the browser has; it gets what came after. null = only what happens from now on. */
        since: countSchema.nullable(),
        /** Store the seq is from; absent = unknown, treated as another one. */
        storeId: idSchema.optional(),
      }),
    )
    .max(16),
});

export const heartbeatSchema = z.strictObject({ type: z.literal('heartbeat'), at: timeSchema });

/** Everything a browser may send. */
export const browserFrameSchema = z.discriminatedUnion('type', [
  browserHelloSchema,
  browserRequestSchema,
  attachSchema,
  heartbeatSchema,
]);
export type BrowserFrame = Readonly<z.infer<typeof browserFrameSchema>>;

/** The bridge passes a request on to an agent: the browser's id is replaced by an opaque one, who asks is stamped. */
export const agentRequestSchema = z.strictObject({
  type: z.literal('request'),
  id: idSchema,
  operation: operationNameSchema,
  input: z.unknown(),
  /** Set by the bridge from the authenticated socket, never taken from a frame. */
  user: z.strictObject({ id: idSchema, name: lineSchema }),
});

export const bridgeHelloToAgentSchema = z.strictObject({
  type: z.literal('hello'),
  /** The version both speak from now on. */
  protocol: z.int().min(1),
  heartbeatMs: z.int().min(1),
});

/** Everything the bridge sends to an agent. */
export const bridgeToAgentFrameSchema = z.discriminatedUnion('type', [
  bridgeHelloToAgentSchema,
  agentRequestSchema,
  heartbeatSchema,
]);
export type BridgeToAgentFrame = Readonly<z.infer<typeof bridgeToAgentFrameSchema>>;
export type AgentRequest = Readonly<z.infer<typeof agentRequestSchema>>;

// Frames that tell: lenient, what a newer peer adds is dropped.

export const responseSchema = z.discriminatedUnion('ok', [
  z.object({ type: z.literal('response'), id: idSchema, ok: z.literal(true), result: z.unknown() }),
  z.object({ type: z.literal('response'), id: idSchema, ok: z.literal(false), error: wireErrorSchema }),
]);
export type ResponseFrame = Readonly<z.infer<typeof responseSchema>>;

/** First frame of an agent. The token went with the upgrade request. */
export const agentHelloSchema = z.object({
  type: z.literal('hello'),
  protocol: z.object(protocolRangeShape),
  agent: z.object({ id: idSchema, name: lineSchema, version: z.string().max(64) }),
  storeId: idSchema,
});

export const eventFrameSchema = z.object({ type: z.literal('event'), event: eventSchema });
export const progressFrameSchema = z.object({ type: z.literal('progress'), progress: progressSchema });
const lenientHeartbeatSchema = z.object({ type: z.literal('heartbeat'), at: timeSchema });

/** Everything an agent may send. */
export const agentFrameSchema = z.union([
  z.discriminatedUnion('type', [agentHelloSchema, eventFrameSchema, progressFrameSchema, lenientHeartbeatSchema]),
  responseSchema,
]);
export type AgentFrame = Readonly<z.infer<typeof agentFrameSchema>>;

export const bridgeHelloSchema = z.object({
  type: z.literal('hello'),
  protocol: z.int().min(1),
  bridgeVersion: z.string().max(64),
  user: z.object({ id: idSchema, name: lineSchema }),
  agents: z.array(agentPresenceSchema).max(256),
  /** A peer that is silent for two of these is gone. */
  heartbeatMs: z.int().min(1),
});

/** Agents came or went. */
export const presenceSchema = z.object({ type: z.literal('presence'), agents: z.array(agentPresenceSchema).max(256) });

/** Something was missed; read it again. */
export const resyncSchema = z.object({
  type: z.literal('resync'),
  /** null = everything this socket is attached to. */
  itemId: idSchema.nullable(),
  reason: openEnum(['slow_reader', 'too_far_behind', 'store_changed', 'agent_returned']),
});

/** From here on the socket hears of what it asked for with this generation. */
export const attachedSchema = z.object({ type: z.literal('attached'), generation: countSchema });

/** Everything the bridge sends to a browser. */
export const bridgeToBrowserFrameSchema = z.union([
  z.discriminatedUnion('type', [
    bridgeHelloSchema,
    eventFrameSchema,
    progressFrameSchema,
    presenceSchema,
    resyncSchema,
    attachedSchema,
    lenientHeartbeatSchema,
  ]),
  responseSchema,
]);
export type BridgeToBrowserFrame = Readonly<z.infer<typeof bridgeToBrowserFrameSchema>>;
