// How charts are drawn: the time that is looked at, the time before it dashed, and marks of what happened meanwhile.

import {bytes, number} from './parts.js';

const milliseconds = value => value === undefined ? null : value / 1000;
export const CHARTS = [
  {title: 'Requests', lines: [['requests', '--act', ({requests}) => requests], ['errors', '--bad', ({errors}) => errors]]},
  {title: 'Milliseconds inside the server', lines: [
    ['p50', '--act', point => milliseconds(point.p50Microseconds)],
    ['p95', '--link', point => milliseconds(point.p95Microseconds)],
    ['p99', '--bad', point => milliseconds(point.p99Microseconds)]]},
  {title: 'Bytes', lines: [['in', '--act', point => point.bytesIn], ['out', '--link', point => point.bytesOut]], shown: bytes},
  {title: 'Notices', lines: [['sent', '--act', point => point.noticesSent], ['failed', '--bad', point => point.noticesFailed]]},
];

/// The library is a classic script of the document, loaded beside everything else.
export const library = () => new Promise((done, failed) => {
  if (window.uPlot) return done(window.uPlot);
  const script = document.getElementById('charts');
  script.addEventListener('load', () => done(window.uPlot));
  script.addEventListener('error', () => failed(new Error('The charts could not be loaded.')));
});

/// Lines of moments, with the letters that the list of marks has.
const markLines = (marks, colour, text) => chart => {
  const {ctx, bbox} = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = text;
  ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  ctx.setLineDash([4, 4]);
  marks.forEach(({time}, index) => {
    const x = Math.round(chart.valToPos(time / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(String.fromCharCode(65 + index), x + 3, bbox.top + 11 * devicePixelRatio);
  });
  ctx.restore();
};

/// Draws into each `.chart` of an element; the charts, to be destroyed by who asked.
///
/// - zoomed: called with the two moments between which somebody has dragged.
export function draw(element, {uPlot, told, before, marks, zoomed}) {
  const style = getComputedStyle(element);
  // A probe resolves what light-dark() means right now.
  const probe = document.createElement('span');
  element.append(probe);
  const colour = name => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const [line, text] = [colour('--line'), colour('--text')];
  const starts = told.points.map(({start}) => start / 1000);
  // The time before has as many points; it is drawn where it would be now.
  const earlier = before?.points.slice(-told.points.length);
  const charts = [...element.querySelectorAll('.chart')].map((box, index) => {
    const {lines, shown = number} = CHARTS[index];
    const axis = {stroke: text, grid: {stroke: line, width: 0.3}, ticks: {stroke: line, width: 0.3}, font: `12px ${style.fontFamily}`};
    const value = (chart, value) => value === null || value === undefined ? '–' : shown(value);
    const now = lines.map(([label, name]) => ({label, stroke: colour(name), width: 2, spanGaps: false, value}));
    const [[label, name, of]] = lines;
    const then = earlier ? [{label: `${label} before`, stroke: colour(name), width: 1, dash: [4, 4], spanGaps: false, value}] : [];
    return new uPlot({
      width: box.clientWidth, height: 220,
      cursor: {sync: {key: 'telemetry'}, drag: {x: true, y: false, setScale: false}},
      scales: {y: {range: (chart, low, high) => [0, Math.max(high * 1.1, 1)]}},
      axes: [axis, {...axis, size: 64, values: (chart, values) => values.map(shown)}],
      series: [{}, ...now, ...then],
      hooks: {
        draw: [markLines(marks.slice(-12), text, text)],
        setSelect: [chart => {
          const {left, width} = chart.select;
          if (width < 5) return;
          zoomed(1000 * chart.posToVal(left, 'x'), 1000 * chart.posToVal(left + width, 'x'));
        }]},
    }, [starts, ...lines.map(([, , each]) => told.points.map(each)), ...earlier ? [earlier.map(of)] : []], box);
  });
  probe.remove();
  return charts;
}
