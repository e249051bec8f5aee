/** What we use of asciichart, which has no types of its own. */

declare module 'asciichart' {
  interface PlotOptions {
    readonly height: number;
    readonly min: number;
    readonly max: number;
    readonly symbols: readonly string[];
    /** `row` is counted from the top. */
    readonly format: (value: number, row: number) => string;
  }

  const asciichart: { plot(series: readonly number[], options: PlotOptions): string };
  export default asciichart;
}
