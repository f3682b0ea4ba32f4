// Only safe addresses become links.

/** The address, if it is an absolute http(s) address; `undefined` for `javascript:` and the like. */
export function safeLink(address: string): string | undefined {
  const given = address.trim();
  // Control characters and spaces can disguise a scheme.
  if (!/^https?:\/\//i.test(given) || /[\u0000-\u0020\u007f]/.test(given)) return undefined;
  try {
    const url = new URL(given);
    if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
    // `https://bank.example@evil.example` looks like another site.
    return url.username || url.password ? undefined : url.href;
  } catch {
    return undefined;
  }
}
