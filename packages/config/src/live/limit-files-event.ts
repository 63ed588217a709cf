/** What happens to limits that are watched. `message` is the log line: what happened, and what to do. */
export type LimitFilesEvent =
  /** Other limits hold from now on. */
  | { readonly type: 'limits-reloaded'; readonly version: string; readonly message: string }
  /** The sources have problems, or the limiter can't go on with them: the limits that held go on. */
  | { readonly type: 'limits-refused'; readonly cause: unknown; readonly message: string }
  /** The sources say again what held all the time. */
  | { readonly type: 'limits-restored'; readonly version: string; readonly message: string };
