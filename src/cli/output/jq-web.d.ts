/** What we use of the library, which has no types of its own. */

declare module 'jq-web' {
  interface Jq {
    /**
     * What `jq FLAGS FILTER` prints for the text, without the last line end; undefined if it prints nothing. If the exit code
     * is not 0, throws an Error with what jq writes to standard error in `stderr`.
     */
    readonly raw: (json: string, filter: string, flags: readonly string[]) => string | undefined;
  }

  const loading: Promise<Jq>;
  export default loading;
}
