/**
 * An event of {@link watchLimits}, emitted to `onEvent`. `message` describes what happened and what to do; the log line
 * is the message after `Sluice: `. `version` is the hash of the content in use.
 */
export type LimitFilesEvent =
  /** The sources have new content, and the limiter now uses it. */
  | { readonly type: 'limits-reloaded'; readonly version: string; readonly message: string }
  /**
   * The content of the sources was rejected, and the previous limits stay in use. `cause` is the `ERR_LIMIT_FILES`
   * error with all problems, or the error of `limiter.replace`. Emitted once for each new reason.
   */
  | { readonly type: 'limits-rejected'; readonly cause: unknown; readonly message: string }
  /** After rejected content, the sources again have the content that is in use. */
  | { readonly type: 'limits-restored'; readonly version: string; readonly message: string };
