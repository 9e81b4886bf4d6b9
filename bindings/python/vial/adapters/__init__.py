"""Small bridges to frameworks, one file each: pydantic_ai, langgraph, openai_agents, smolagents, e2b.

None of them imports its framework unless it is used.
"""
