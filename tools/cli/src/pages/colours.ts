/** The colours of pages and pictures. Text in `ink` and in `quiet` has a contrast of at least 4.5 to 1. */
export interface Colours {
  readonly ground: string;
  readonly ink: string;
  readonly quiet: string;
  /** The colour of lines that separate. */
  readonly border: string;
}

export const LIGHT: Colours = { ground: '#ffffff', ink: '#1f2328', quiet: '#59636e', border: '#d1d9e0' };
export const DARK: Colours = { ground: '#0d1117', ink: '#e6edf3', quiet: '#9ba5b0', border: '#3d444d' };
