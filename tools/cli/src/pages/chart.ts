import { markup, type Content, type Markup } from './markup.ts';

/** A label at an axis. */
export interface Tick {
  /** From 0 (left, bottom) to 1. */
  readonly at: number;
  readonly text: string;
}

/** A picture with two axes. */
export interface Chart {
  /** What it shows, for readers who can't see it. */
  readonly label: string;
  /** The height of the plot, in pixels. Its width is that of the page. */
  readonly height: number;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  /** Shapes in a box of {@link BOX} by {@link BOX}, which is stretched to the plot. */
  readonly shapes: Content;
  /** Vertical lines, from 0 (left) to 1. The kind is a class of the style. */
  readonly bounds: readonly { readonly at: number; readonly kind: string }[];
}

/** The width and the height of the box of shapes. */
export const BOX = 1000;

/** Draws a chart. Shapes are stretched to the width of the page, text is not: it is as large on a narrow page. */
export function drawChart({ label, height, xTicks, yTicks, shapes, bounds }: Chart): Markup {
  return markup`<svg class="chart" role="img" aria-label="${label}" height="${height + 24}">
${yTicks.map(({ at, text }) => {
  const y = rounded((1 - at) * height);
  return markup`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}"/><text x="0" dx="-6" y="${y}" dy="4" text-anchor="end">${text}</text>`;
})}
<svg viewBox="0 0 ${BOX} ${BOX}" width="100%" height="${height}" preserveAspectRatio="none">${shapes}</svg>
${bounds.map(({ at, kind }) => {
  const x = percent(at);
  return markup`<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`;
})}
${xTicks.map(
  ({ at, text }) => markup`<text x="${percent(at)}" y="${height + 18}" text-anchor="${anchorAt(at)}">${text}</text>`,
)}
</svg>
`;
}

/** An entry of a legend. */
export interface LegendEntry {
  readonly text: string;
  /** The class of what it explains. */
  readonly kind: string;
  /** Whether that is an area and not a line. */
  readonly isArea?: true;
}

/** Draws the legend of charts. */
export function drawLegend(entries: readonly LegendEntry[]): Markup {
  return markup`<ul class="legend">${entries.map(
    (entry) => markup`<li><svg class="swatch" aria-hidden="true">${swatch(entry)}</svg>${entry.text}</li>`,
  )}</ul>
`;
}

function swatch({ kind, isArea }: LegendEntry): Markup {
  return isArea
    ? markup`<rect class="${kind}" width="24" height="12"/>`
    : markup`<line class="${kind}" x1="0" x2="24" y1="6" y2="6"/>`;
}

/** Returns a coordinate with one digit after the point. */
export function rounded(coordinate: number): number {
  return Math.round(coordinate * 10) / 10;
}

function percent(part: number): string {
  return `${rounded(part * 100)}%`;
}

function anchorAt(at: number): string {
  if (at < 0.05) return 'start';
  return at > 0.95 ? 'end' : 'middle';
}
