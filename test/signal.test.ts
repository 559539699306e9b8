import { Signal } from '../runtime/signal';

test('calls the listeners in the order of their subscription, at every later emit', () => {
  const signal = new Signal<number>();
  const heard: string[] = [];
  signal.emit(0);
  signal.subscribe((value) => heard.push(`a${value}`));
  signal.subscribe((value) => heard.push(`b${value}`));
  signal.emit(1);
  signal.emit(2);
  expect(heard).toEqual(['a1', 'b1', 'a2', 'b2']);
});
