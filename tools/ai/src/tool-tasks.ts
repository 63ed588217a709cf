import type { Decision, Time } from '@sluice/core';

/** A handler of requests, as the SDKs of MCP store it. */
export type Handler<Request = TaskRequest, Context = unknown> = (request: Request, context: Context) => unknown;

/** A request about a task. */
interface TaskRequest {
  readonly method?: string;
  readonly params?: { readonly taskId?: unknown } | undefined;
}

/** What a tool has begun: its result comes later. */
interface Task {
  readonly taskId: string;
  readonly status?: unknown;
  readonly pollInterval?: unknown;
}

const GET = 'tasks/get';

/** Requests whose answers may say that a task has ended. */
export const TASK_METHODS: readonly string[] = [GET, 'tasks/result', 'tasks/cancel'];

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** The error of a task that the server does not have (any more). */
export const INVALID_PARAMS = -32_602;

/** The interval of the SDK, for tasks without one. */
const POLL_MS = 1000;

/** So many looks at a task may fail one after the other, as when its store is down. */
const MOST_FAILURES = 10;

/**
 * The slots of tools that have answered by a task. A task holds them until it has ended, which is seen in the answers that
 * clients are given, and by asking the server itself. They expire with the process.
 */
export class ToolTasks {
  readonly #time: Time;
  readonly #handlers: ReadonlyMap<string, Handler<never, never>>;
  readonly #held = new Map<unknown, Decision>();

  /** @param handlers - Those of the server, by method. */
  constructor(time: Time, handlers: ReadonlyMap<string, Handler<never, never>>) {
    this.#time = time;
    this.#handlers = handlers;
  }

  /** Releases the slots of a call with its answer, or with the task that the answer is. */
  async release(decision: Decision, answer: unknown, context: unknown): Promise<void> {
    const task = taskOf(answer);
    if (task === undefined || ENDS.has(task.status) || !this.#handlers.has(GET)) return decision.release();
    await this.#held.get(task.taskId)?.release();
    this.#held.set(task.taskId, decision);
    this.#lookLater(task, context, MOST_FAILURES);
  }

  /** Returns a handler of {@link TASK_METHODS} that releases the slots of a task before it answers that it has ended. */
  observed(method: string, handler: Handler): Handler {
    return async (request, context) => {
      const answer = await handler(request, context);
      const isOver = method === 'tasks/result' || ENDS.has((answer as Partial<Task> | undefined)?.status);
      if (isOver) await this.#ended(request.params?.taskId);
      return answer;
    };
  }

  async #ended(taskId: unknown): Promise<void> {
    const decision = this.#held.get(taskId);
    this.#held.delete(taskId);
    await decision?.release();
  }

  #lookLater(task: Task, context: unknown, failuresLeft: number): void {
    const { pollInterval } = task;
    const waitMs = typeof pollInterval === 'number' && pollInterval >= 1 ? pollInterval : POLL_MS;
    this.#time.alarm(Math.min(waitMs, 60 * POLL_MS), () => void this.#look(task, context, failuresLeft)).unref();
  }

  async #look(task: Task, context: unknown, failuresLeft: number): Promise<void> {
    const { taskId } = task;
    if (!this.#held.has(taskId)) return;
    try {
      const get = this.#handlers.get(GET) as Handler | undefined;
      const answer = await get?.({ method: GET, params: { taskId } }, context);
      if (answer === undefined || answer === null) await this.#ended(taskId);
      if (this.#held.has(taskId)) this.#lookLater(task, context, MOST_FAILURES);
    } catch (error) {
      const isGone = (error as { readonly code?: unknown } | null | undefined)?.code === INVALID_PARAMS;
      if (isGone || failuresLeft <= 1) await this.#ended(taskId);
      else this.#lookLater(task, context, failuresLeft - 1);
    }
  }
}

function taskOf(answer: unknown): Task | undefined {
  const { task } = (answer ?? {}) as { readonly task?: Partial<Task> | null };
  return typeof task?.taskId === 'string' ? (task as Task) : undefined;
}
