/** What we use of the library, which has no types of its own. */

declare module 'jq-web' {
  interface Jq {
    /**
     * What `jq FLAGS FILTER` prints for the text, without its last line end; undefined where it prints nothing. Throws an
     * Error with what it says on standard error, in `stderr`, where it ends with another code than 0.
     */
    readonly raw: (json: string, filter: string, flags: readonly string[]) => string | undefined;
  }

  const loading: Promise<Jq>;
  export default loading;
}
