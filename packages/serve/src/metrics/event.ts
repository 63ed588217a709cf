/** An event of a service, for logs. `message` says what happened and what to do. */
export type ServiceEvent =
  /** The files have new content, which is in use now. The log leaves out neither this nor the next. */
  | { readonly type: 'tables-reloaded'; readonly version: string; readonly message: string; readonly once: true }
  /** The content of the files was rejected. What was in use before stays in use. */
  | { readonly type: 'tables-rejected'; readonly cause: unknown; readonly message: string; readonly once: true }
  /** Someone asked who is not trusted. */
  | { readonly type: 'peer-rejected'; readonly message: string }
  /** A proxy asked in a way that can't be answered: its configuration needs a change. */
  | { readonly type: 'proxy-misconfigured'; readonly message: string }
  /** A decision failed by an error of this program. */
  | { readonly type: 'check-failed'; readonly cause: unknown; readonly message: string };
