// Shifts letters.
function caesar(text, by) {
  return text.replace(/[a-z]/gi, (c) => {
    const base = c <= "Z" ? 65 : 97;
    return String.fromCharCode(((c.charCodeAt(0) - base + by + 26) % 26) + base);
  });
}
caesar(caesar("Hello, World", 3), -3);
