import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Commands,
  type Coordinator,
  createCommands,
  createCoordinator,
  type RunProgress,
} from '@stint/coordinator';
import { journalMigrations } from '@stint/journal';
import { ledgerMigrations, type Limits } from '@stint/ledger';
import { type Database, type Gate, openSqlite } from '@stint/storage';
import { workItemsMigrations } from '@stint/work-items';
import { agentMigrations, storeIdentity } from './agent-store.js';
import type { CommandContext } from './command-context.js';
import { checkedWorkDirectory, type DataDirectory, dataDirectoryPath, openDataDirectory } from './data-directory.js';
import { ItemReader } from './item-reader.js';
import { Models } from './models.js';

/** Role of a process that serves the whole store (`stint local`); followers leave the work to it. */
const agentRole = 'agent';

/** What a person hands over. */
export interface NewItem {
  readonly goal: string;
  readonly title?: string | undefined;
  readonly acceptanceCriteria: readonly string[];
  /** As typed; it is made canonical. */
  readonly workDir: string | null;
  readonly deliveryTarget: 'response' | 'workspace_files' | null;
  /** Full name, as `Models.choose` gives it. */
  readonly model: string;
  readonly onUnknownRequest?: 'ask' | 'retry' | undefined;
  /** undefined = the default; null = no cap of its own. */
  readonly budget: { readonly [Name in 'maxTokens' | 'maxRequests' | 'maxCostMicros']?: number | null | undefined };
  readonly clientMessageId?: string;
  readonly start: boolean;
}

/** Everything composed over one data directory. */
export interface Application extends AsyncDisposable {
  readonly data: DataDirectory;
  readonly db: Database;
  readonly commands: Commands;
  readonly reader: ItemReader;
  readonly models: Models;
  /** Creates an item. @throws CommandFailure (usage) for a directory that cannot be used */
  create(item: NewItem): Promise<string>;
  /** Answers a question of an item or an Action. */
  answer(answer: { readonly itemId: string; readonly questionId: string; readonly text: string }): Promise<void>;
  /** Does the work of these items (all where undefined) in this process from now on. A second call changes nothing. */
  serve(itemIds?: readonly string[], onProgress?: (progress: RunProgress) => void): Promise<void>;
  /** `serve`, but only while no agent serves the whole store. */
  serveUnlessServed(itemIds: readonly string[]): Promise<void>;
  /** Stops the work safely; what ran is settled. */
  stopServing(): Promise<void>;
}

export interface ApplicationOptions {
  /** @default a command that only looks and steers */
  readonly role?: 'agent' | 'command';
  readonly defaultModel?: string | undefined;
}

/** Opens the store of a command, brings its tables up to date and composes all floors. Dispose it when the command is done. */
export async function openApplication(context: CommandContext, options: ApplicationOptions = {}): Promise<Application> {
  const data = openDataDirectory(dataDirectoryPath(context.options.dataDir, context.environment));
  const db = await openSqlite({ path: data.store, role: options.role ?? 'command' });
  try {
    for (const set of [ledgerMigrations, journalMigrations, workItemsMigrations, agentMigrations])
      await db.migrate(set);
    const models = new Models(context.environment, options.defaultModel);
    return new ComposedApplication({
      data,
      db,
      models,
      gate: context.gate,
      environment: context.environment,
      storeId: await storeIdentity(db),
      note: context.output.note,
    });
  } catch (error) {
    await db.close();
    throw error;
  }
}

interface Parts {
  readonly data: DataDirectory;
  readonly db: Database;
  readonly models: Models;
  readonly gate: Gate | undefined;
  readonly environment: CommandContext['environment'];
  readonly storeId: string;
  readonly note: (text: string) => void;
}

class ComposedApplication implements Application {
  readonly data: DataDirectory;
  readonly db: Database;
  readonly commands: Commands;
  readonly reader: ItemReader;
  readonly models: Models;
  readonly #parts: Parts;
  #coordinator: Coordinator | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.data = parts.data;
    this.db = parts.db;
    this.models = parts.models;
    this.commands = createCommands(parts.db);
    this.reader = new ItemReader(parts.db, parts.storeId, {
      knownSecrets: parts.models.secrets(),
      privateRoots: [parts.data.path],
    });
  }

  async create(item: NewItem): Promise<string> {
    const workDir = item.workDir === null ? null : checkedWorkDirectory(item.workDir, this.data);
    const { itemId } = await this.commands.create({
      contract: {
        goal: item.goal,
        acceptanceCriteria: item.acceptanceCriteria,
        workDir,
        workspaceKey: workDir === null ? null : `${hostname()}:${workDir}`,
        deliveryTarget: item.deliveryTarget,
        model: item.model,
        ...(item.title === undefined ? {} : { title: item.title }),
        ...(item.onUnknownRequest === undefined ? {} : { onUnknownRequest: item.onUnknownRequest }),
        ...(item.clientMessageId === undefined ? {} : { clientMessageId: item.clientMessageId }),
      },
      limits: givenLimits(item.budget),
      start: item.start,
    });
    return itemId;
  }

  async answer(answer: { readonly itemId: string; readonly questionId: string; readonly text: string }): Promise<void> {
    await this.commands.answer({ ...answer, clientMessageId: randomUUID() });
  }

  async serve(itemIds?: readonly string[], onProgress?: (progress: RunProgress) => void): Promise<void> {
    if (this.#coordinator) return;
    const { db, data, models, gate, environment, note } = this.#parts;
    this.#coordinator = createCoordinator({
      db,
      dataDir: data.path,
      machine: hostname(),
      toolEnvironment: environment,
      resolveModel: ({ item }) => models.open(item.model),
      pastAnswersOf: (model) => models.pastAnswersOf(model),
      log: ({ level, message, errorCode, errorMessage }) => {
        if (level === 'error' || level === 'warn') note([message, errorCode, errorMessage].filter(Boolean).join(': '));
      },
      ...(itemIds ? { itemIds } : {}),
      ...(onProgress ? { onProgress } : {}),
      ...(gate ? { gate } : {}),
    });
    this.#coordinator.start();
  }

  async serveUnlessServed(itemIds: readonly string[]): Promise<void> {
    if (this.#coordinator) return;
    await this.db.endDeadProcesses(); // one that was killed serves nobody
    const processes = await this.db.processes();
    if (!processes.some(({ role }) => role === agentRole)) await this.serve(itemIds);
  }

  async stopServing(): Promise<void> {
    const coordinator = this.#coordinator;
    this.#coordinator = null;
    await coordinator?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopServing();
    await this.models[Symbol.asyncDispose]();
    await this.db.close();
  }
}

/** Only what was given, so that the defaults stay for the rest. */
function givenLimits(budget: NewItem['budget']): Limits {
  return Object.fromEntries(Object.entries(budget).filter(([, value]) => value !== undefined));
}
