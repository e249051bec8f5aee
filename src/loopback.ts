/** What means this machine, judged by its text alone: nothing is looked up. An IPv6 address may stand in brackets, as in a URL. */

export function isLoopbackAddress(address: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(address);
}

/** Whether an address or a name means this machine; a resolver may lead the name elsewhere. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}
