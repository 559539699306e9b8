import { Recording } from '../../examples/demo/recording';
import { line } from '../../examples/demo/styled';

function recorded(...frames: readonly (readonly [at: number, ...lines: string[]])[]): string {
  let milliseconds = 0;
  const recording = new Recording(20, () => milliseconds);
  for (const [at, ...lines] of frames) {
    milliseconds = at * 1000;
    recording.add(lines.map((text) => line(text)));
  }
  return recording.svg();
}

test('shows each frame from its second to that of the next one, and the last one for four seconds', () => {
  const svg = recorded([10, 'waiting 2'], [12, 'waiting 1'], [16, 'waiting 0']);
  expect(svg).toContain('animation: 10.0s');
  expect(svg).toContain('@keyframes f0 { 0.00% { visibility: visible; } 20.00% { visibility: hidden; } }');
  expect(svg).toContain(
    '@keyframes f1 { 0% { visibility: hidden; } 20.00% { visibility: visible; } 60.00% { visibility: hidden; } }',
  );
  expect(svg).toContain('@keyframes f2 { 0% { visibility: hidden; } 60.00% { visibility: visible; } }');
});

test('leaves out a frame that shows nothing new', () => {
  expect(recorded([0, 'a'], [1, 'a'], [2, 'b']).match(/<g /g)).toHaveLength(2);
});

test('cuts long lines and escapes what XML would read as markup', () => {
  const svg = recorded([0, 'a<b>&c', 'x'.repeat(30)]);
  expect(svg).toContain('>a&lt;b&gt;&amp;c</text>');
  expect(svg).toContain(`>${'x'.repeat(19)}…</text>`);
});

test('has the colours of the terminal', () => {
  const recording = new Recording(20, () => 0);
  recording.add([[{ text: 'node-0 ' }, { text: 'A', colour: 31 }, { text: 'A', colour: 31 }, { text: '.' }]]);
  expect(recording.svg()).toContain('>node-0 <tspan class="c31">AA</tspan>.</text>');
  expect(recording.svg()).toContain('.c31 { fill: #');
});
