/** What happens to limits that are watched. `message` is the log line: what happened, and what to do. */
export type LimitFilesEvent =
  /** Other limits take effect from now on. */
  | { readonly type: 'limits-reloaded'; readonly version: string; readonly message: string }
  /** The sources have problems, or the limiter can't go on with them: the limits that were in use stay in use. */
  | { readonly type: 'limits-refused'; readonly cause: unknown; readonly message: string }
  /** The sources are again what was in use all the time. */
  | { readonly type: 'limits-restored'; readonly version: string; readonly message: string };
