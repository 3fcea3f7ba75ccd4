import type * as z from 'zod';
import { openEnum } from './scalars.js';

export const workItemStatusSchema = openEnum([
  'draft',
  'ready',
  'running',
  'waiting',
  'needs_attention',
  'done',
  'cancelled',
]);
export type WorkItemStatus = z.infer<typeof workItemStatusSchema>;

export const actionStatusSchema = openEnum([
  'blocked',
  'ready',
  'running',
  'waiting',
  'completed',
  'failed',
  'closed',
  'superseded',
  'cancelled',
]);
export type ActionStatus = z.infer<typeof actionStatusSchema>;

export const runStatusSchema = openEnum([
  'running',
  'completed',
  'waiting',
  'retryable',
  'deferred',
  'failed',
  'interrupted',
  'cancelled',
  'superseded',
  'outcome_unknown',
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

export const turnStatusSchema = openEnum([
  'dispatching',
  'responded',
  'refused',
  'unknown',
  'cancelled',
  'applied',
  'rejected',
  'resolved',
]);
export type TurnStatus = z.infer<typeof turnStatusSchema>;

export const operationStatusSchema = openEnum([
  'started',
  'completed',
  'failed',
  'cancelled',
  'unknown',
  'applied',
  'no_effect',
]);
export type OperationStatus = z.infer<typeof operationStatusSchema>;

export const coordinatorStatusSchema = openEnum(['idle', 'queued', 'thinking']);
export type CoordinatorStatus = z.infer<typeof coordinatorStatusSchema>;

export const actionKindSchema = openEnum(['work', 'review', 'deliver']);
export type ActionKind = z.infer<typeof actionKindSchema>;

export const workspaceModeSchema = openEnum(['read', 'shared', 'isolated-write', 'integrate', 'none']);
export type WorkspaceMode = z.infer<typeof workspaceModeSchema>;

/** What a person may choose as delivery in this version; `response` answers in text, `workspace_files` leaves files. */
export const deliveryTargetSchema = openEnum(['response', 'workspace_files', 'pull_request', 'merge']);
export type DeliveryTarget = z.infer<typeof deliveryTargetSchema>;
