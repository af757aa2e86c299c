// The prover benchmark as a picture: time of a job against rows, both logarithmic, one line per prover. An SVG by Apache ECharts, with
// colours that read on light and dark pages.
import { init } from 'echarts';

export interface PlotSeries {
  readonly name: string;
  readonly colour: string;
  readonly isDashed?: boolean;
  /** Power of two of the rows, and milliseconds. */
  readonly points: readonly (readonly [power: number, ms: number])[];
}

const grey = '#888';

function describeMs(ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}

/** @returns an SVG document. At least one series has a point. */
export function renderPlot(title: string, series: readonly PlotSeries[]): string {
  const drawn = series.filter(({ points }) => points.length > 0);
  const text = { color: grey, fontFamily: 'sans-serif' };
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 760, height: 420 });
  chart.setOption({
    animation: false,
    textStyle: text,
    title: { text: title, left: 60, textStyle: { ...text, fontSize: 14, fontWeight: 'normal' } },
    grid: { left: 70, right: 170, top: 46, bottom: 46 },
    xAxis: {
      type: 'value',
      name: 'rows of the circuit',
      nameLocation: 'middle',
      nameGap: 28,
      min: 'dataMin',
      max: 'dataMax',
      interval: 1,
      axisLabel: { color: grey, formatter: (power: number) => `2^${power}` },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'log',
      axisLabel: { color: grey, formatter: describeMs },
      splitLine: { lineStyle: { color: '#8886' } },
    },
    series: drawn.map(({ name, colour, isDashed = false, points }) => ({
      ...{ type: 'line', name, data: [...points], symbol: 'circle', symbolSize: 6 },
      itemStyle: { color: colour },
      lineStyle: { color: colour, width: 2, type: isDashed ? 'dashed' : 'solid' },
      endLabel: { show: true, formatter: name, color: colour },
      labelLayout: { moveOverlap: 'shiftY' },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}
