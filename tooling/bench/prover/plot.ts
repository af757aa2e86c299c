// The prover benchmark as a picture: time of a job against rows, both logarithmic, one line per prover. Plain SVG with colours that
// read on light and dark pages.

export interface PlotSeries {
  readonly name: string;
  readonly colour: string;
  readonly isDashed?: boolean;
  /** Power of two of the rows, and milliseconds. */
  readonly points: readonly (readonly [power: number, ms: number])[];
}

const width = 760;
const height = 420;
const left = 70;
const right = 170;
const top = 46;
const bottom = 46;

function describeMs(ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Whole decades around all values. */
function computeDecades(values: readonly number[]): readonly [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  return [low, Math.max(high, low + 1)];
}

/** @returns an SVG document. At least one series has a point. */
export function renderPlot(title: string, series: readonly PlotSeries[]): string {
  const drawn = series.filter(({ points }) => points.length > 0);
  const powers = drawn.flatMap(({ points }) => points.map(([power]) => power));
  const [low, high] = computeDecades(drawn.flatMap(({ points }) => points.map(([, ms]) => ms)));
  const first = Math.min(...powers);
  const last = Math.max(...powers, first + 1);
  const x = (power: number) => left + ((power - first) / (last - first)) * (width - left - right);
  const y = (ms: number) =>
    top + ((high - Math.log10(ms)) / (high - low)) * (height - top - bottom);
  const at = (value: number) => value.toFixed(1);

  const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const grid = decades.map(
    (ms) =>
      `<line x1="${left}" y1="${at(y(ms))}" x2="${width - right}" y2="${at(y(ms))}" stroke="#8886" />` +
      `<text x="${left - 8}" y="${at(y(ms) + 4)}" text-anchor="end">${describeMs(ms)}</text>`,
  );
  const ticks = Array.from(
    { length: last - first + 1 },
    (_, i) =>
      `<text x="${at(x(first + i))}" y="${height - bottom + 20}" text-anchor="middle">2^${first + i}</text>`,
  );
  const lines = drawn.map(({ name, colour, isDashed = false, points }) => {
    const path = points.map(([power, ms]) => `${at(x(power))},${at(y(ms))}`).join(' ');
    const dots = points.map(
      ([power, ms]) => `<circle cx="${at(x(power))}" cy="${at(y(ms))}" r="3" fill="${colour}" />`,
    );
    const [endPower, endMs] = points.at(-1) ?? [first, 1];
    const label = `<text x="${at(x(endPower) + 8)}" y="${at(y(endMs) + 4)}" fill="${colour}">${escapeXml(name)}</text>`;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${isDashed ? ' stroke-dasharray="6 4"' : ''} />${dots.join('')}${label}`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#888">`,
    `<title>${escapeXml(title)}</title>`,
    `<text x="${left}" y="24" font-size="14">${escapeXml(title)}</text>`,
    ...grid,
    ...ticks,
    `<text x="${at((left + width - right) / 2)}" y="${height - 8}" text-anchor="middle">rows of the circuit</text>`,
    ...lines,
    '</svg>',
  ].join('\n')}\n`;
}
