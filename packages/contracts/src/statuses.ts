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

/** `dispatching` = the request may have left; `unknown` = nobody knows; `written_off` = a person decided to leave it unknown. */
export const turnStatusSchema = openEnum([
  'dispatching',
  'responded',
  'applied',
  'rejected',
  'refused',
  'unknown',
  'written_off',
  'cancelled',
]);
export type TurnStatus = z.infer<typeof turnStatusSchema>;

/** `unknown` = nobody knows whether it had its effect. */
export const operationStatusSchema = openEnum(['running', 'applied', 'no_effect', 'unknown']);
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
