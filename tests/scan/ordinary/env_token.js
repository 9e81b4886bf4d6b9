// Takes settings from variables.
const config = {
  apiKey: process.env.API_KEY ?? "your-api-key-here",
  secretName: "production",
  tokenUrl: "https://auth.example.com/oauth/token",
  passwordHint: "at least 12 characters",
};
Object.keys(config);
