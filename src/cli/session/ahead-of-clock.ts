/** What is said where the clock of this machine was set back, or had run ahead (reliability 9). */

/** `newest` is the instant of the newest row. */
export function aheadOfClockWords(newest: string): string {
  return `the clock of this machine is behind the newest row, which is of ${newest}: until then new rows get that time and nothing falls due; set the clock right`;
}
