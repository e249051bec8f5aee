/** Exact fractions of whole numbers: the model's only arithmetic. Nothing is rounded but by `halfUp`. */

export interface Fraction {
  readonly n: bigint;
  /** Above zero. */
  readonly d: bigint;
}

export const zero: Fraction = { n: 0n, d: 1n };
export const one: Fraction = { n: 1n, d: 1n };

export const whole = (value: bigint): Fraction => ({ n: value, d: 1n });
export const add = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const subtract = (a: Fraction, b: Fraction): Fraction => add(a, { n: -b.n, d: b.d });
export const multiply = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.n, d: a.d * b.d });
export const compare = (a: Fraction, b: Fraction): number => Number(sign(a.n * b.d - b.n * a.d));
export const smaller = (a: Fraction, b: Fraction): Fraction => (compare(a, b) <= 0 ? a : b);
export const atLeastZero = (a: Fraction): Fraction => (a.n < 0n ? zero : a);

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const sign = (value: bigint): bigint => (value < 0n ? -1n : value > 0n ? 1n : 0n);

export function divide(a: Fraction, b: Fraction): Fraction {
  return b.n < 0n ? { n: -a.n * b.d, d: -a.d * b.n } : { n: a.n * b.d, d: a.d * b.n };
}

/** The fraction of a decimal text, an exponent included; undefined for any other text. */
export function parse(text: string): Fraction | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text);
  if (match === null) return undefined;
  const [, minus, integer, decimals = '', exponent = '0'] = match;
  const digits = BigInt(`${integer}${decimals}`) * (minus === '-' ? -1n : 1n);
  const power = Number(exponent) - decimals.length;
  return power >= 0 ? whole(digits * 10n ** BigInt(power)) : { n: digits, d: 10n ** BigInt(-power) };
}

/** The fraction of a text that is known to be a decimal. */
export function decimal(text: string): Fraction {
  const value = parse(text);
  if (value === undefined) throw new TypeError(`${text} is no decimal`);
  return value;
}

/** The nearest whole number of steps of 10^-digits, a tie going away from zero (semantics 12). */
export function halfUp(value: Fraction, digits = 0): bigint {
  const scaled = value.n * 10n ** BigInt(digits);
  const magnitude = scaled < 0n ? -scaled : scaled;
  const rounded = (2n * magnitude + value.d) / (2n * value.d);
  return scaled < 0n ? -rounded : rounded;
}

/** Exact decimal text; a fraction that has none is rounded half-up to `digits`. */
export function textOf(value: Fraction, digits: number): string {
  for (let exact = 0; exact <= 60; exact += 1) {
    if ((value.n * 10n ** BigInt(exact)) % value.d === 0n) return scaledText(halfUp(value, exact), exact);
  }
  return scaledText(halfUp(value, digits), digits);
}

/** Decimal text of a whole number of steps of 10^-digits. */
export function scaledText(steps: bigint, digits: number): string {
  const magnitude = (steps < 0n ? -steps : steps).toString().padStart(digits + 1, '0');
  const integer = magnitude.slice(0, magnitude.length - digits);
  const decimals = digits === 0 ? '' : magnitude.slice(-digits).replace(/0+$/, '');
  return `${steps < 0n ? '-' : ''}${integer}${decimals === '' ? '' : `.${decimals}`}`;
}
