import { Changes, linesOf, type Picture, Screen } from '../../runtime/cli/picture';

const row = (key: string, phase: string, hidden = false) => ({
  key,
  cells: [key, phase],
  state: phase,
  gone: [key, 'Deleted'],
  hidden,
});
const picture = (...rows: Picture['rows']): Picture => ({ head: ['NAME', 'PHASE'], rows, empty: 'nothing' });

describe('a pipe', () => {
  test('gets the whole picture, and then what is new, changed or gone', () => {
    const changes = new Changes();
    expect(
      changes.next(picture(row('a', 'Waiting'), row('b', 'Waiting'), row('old', 'Finished', true))),
    ).toEqual(['NAME  PHASE', 'a     Waiting', 'b     Waiting']);
    expect(changes.next(picture(row('a', 'Waiting'), row('b', 'Waiting')))).toEqual(['old   Deleted']);
    expect(changes.next(picture(row('b', 'Running'), row('cc', 'Waiting')))).toEqual([
      'b     Running',
      'cc    Waiting',
      'a     Deleted',
    ]);
    expect(changes.next(picture(row('b', 'Running'), row('cc', 'Waiting')))).toEqual([]);
  });

  test('gets the head with the first row, and at the end the sentence that none is left', () => {
    const changes = new Changes();
    expect(changes.next(picture())).toEqual(['nothing']);
    expect(changes.next(picture(row('a', 'Running')))).toEqual(['NAME  PHASE', 'a     Running']);
    expect(changes.next({ ...picture(), done: true })).toEqual(['a     Deleted', 'nothing']);
  });

  test('is told of a row that leaves the picture', () => {
    const changes = new Changes();
    changes.next(picture(row('a', 'Running')));
    expect(changes.next(picture(row('a', 'Finished', true)))).toEqual(['a     Finished']);
  });

  test('gets a text of several lines again as a whole', () => {
    const text = (said: string): Picture => ({ rows: [{ key: 'text', cells: [said], state: said }] });
    const changes = new Changes();
    expect(changes.next(text('it waits\nfor nodes'))).toEqual(['it waits', 'for nodes']);
    expect(changes.next(text('it runs\non node-1'))).toEqual(['it runs\non node-1']);
  });
});

test('a picture without shown rows is a sentence', () => {
  expect(linesOf(picture(row('a', 'Finished', true)))).toEqual(['nothing']);
});

test('no text moves the cursor, and only a row of one cell has several lines', () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J';
  const text: Picture = { rows: [{ key: 'text', cells: [`it waits\nfor${evil}`], state: '' }] };
  expect(linesOf(text)).toEqual(['it waits', 'for ]0;owned [2J']);
  expect(linesOf(picture(row('a\nb', `Waiting${evil}`)))).toEqual([
    'NAME  PHASE',
    'a b   Waiting ]0;owned [2J',
  ]);
  const changes = new Changes();
  changes.next(text);
  expect(changes.next({ rows: [{ key: 'text', cells: [`it runs${evil}\nhere`], state: 'new' }] })).toEqual([
    'it runs ]0;owned [2J\nhere',
  ]);
});

/** What a terminal shows that has enough lines, after what was written to it. */
function terminal(text: string): string[] {
  const lines = [''];
  let at = 0;
  const print = (plain: string) => {
    for (const [i, piece] of plain.replaceAll('\r', '').split('\n').entries()) {
      if (i > 0) lines[++at] ??= '';
      if (piece !== '') lines[at] = piece;
    }
  };
  const [first = '', ...orders] = text.split('\u001b[');
  print(first);
  for (const part of orders) {
    const [order, count, letter] = /^(\d*)([A-Z])/.exec(part)!;
    if (letter === 'A') at -= Number(count);
    if (letter === 'J') lines.splice(at, lines.length, '');
    print(part.slice(order.length));
  }
  return lines.slice(0, at);
}

describe('a terminal', () => {
  const SIZE = { rows: 5, columns: 10 };

  test('shows lines over the lines before, also if they are fewer', () => {
    const screen = new Screen();
    let written = '';
    for (const lines of [['one', 'two', 'three'], ['one', 'TWO'], ['four']]) {
      written += screen.frame(lines, SIZE);
      expect(terminal(written)).toEqual(lines);
    }
    expect(screen.frame(['four'], SIZE)).toBe('');
  });

  test('gets no more and no longer lines than it has, and no control characters', () => {
    expect(terminal(new Screen().frame(['2'.repeat(10)], SIZE))).toEqual(['2'.repeat(10)]);
    const lines = ['1', '2'.repeat(20), '3\u001b[2J', '4', '5', '6'];
    expect(terminal(new Screen().frame(lines, SIZE))).toEqual(['1', '222222222…', '3 [2J', '… 3 more']);
  });

  test('that was resized is drawn anew', () => {
    const screen = new Screen();
    screen.frame(['one'], SIZE);
    expect(screen.frame(['one'], { rows: 8, columns: 10 })).toContain('\u001b[2J');
  });
});
