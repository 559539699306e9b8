/** Columns of numbers: typed arrays that grow when they are full. */
type Column = Uint8Array | Uint16Array | Int32Array | Float64Array;

/** @returns `larger`, with the values of `column` at its beginning */
export function grown<T extends Column>(column: T, larger: T): T {
  larger.set(column);
  return larger;
}
